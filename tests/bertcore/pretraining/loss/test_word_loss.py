"""The loss in chunks: that of plain cross-entropy, to the rounding of bfloat16."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.pretraining.loss.objective import word_loss, word_loss_in_chunks

V, D = 300, 16


def drawn(num: int, *, spread: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(num)
    vectors, table = (torch.randn(n, D, generator=generator) for n in (num, V))
    bias = torch.randn(V, generator=generator)
    labels = torch.randint(0, V, (num,), generator=generator)
    shares = torch.rand(num, generator=generator) / num
    shares[4::5] = 0  # padding
    # Numbers that bfloat16 holds exactly, so that only the results are rounded.
    exact = [(x * spread).bfloat16().float().requires_grad_() for x in (vectors, table, bias)]
    return exact[0], exact[1], exact[2], labels, shares


def test_the_plain_loss_is_weighted_cross_entropy() -> None:
    vectors, table, bias, labels, shares = drawn(50)
    loss, right = word_loss(vectors, table, bias, labels, shares)
    logits = vectors @ table.T + bias
    expected = (F.cross_entropy(logits, labels, reduction="none") * shares).sum()
    torch.testing.assert_close(loss, expected)
    assert torch.equal(right, logits.argmax(-1) == labels)


@pytest.mark.parametrize("num", [1, 31, 32, 33, 100])
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_chunks_give_the_same_loss_and_gradients(num: int, factor: float) -> None:
    ours, theirs = drawn(num), drawn(num)
    found, right = word_loss_in_chunks(*ours)
    expected, expected_right = word_loss(*theirs)
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=0.01)
    assert float((right == expected_right).float().mean()) > 0.9  # ties of rounded logits
    (found * factor).backward()
    (expected * factor).backward()
    for mine, other in zip(ours[:3], theirs[:3], strict=True):
        assert mine.grad is not None
        assert other.grad is not None
        assert mine.grad.dtype == torch.float32
        assert float((mine.grad - other.grad).norm()) < 0.02 * float(other.grad.norm())


def test_rows_of_share_zero_pull_nothing() -> None:
    vectors, table, bias, labels, shares = drawn(40)
    loss, _ = word_loss_in_chunks(vectors, table, bias, labels, shares)
    loss.backward()
    assert vectors.grad is not None
    assert not vectors.grad[4::5].any()
    assert vectors.grad[::5].any()


def test_large_logits_stay_finite() -> None:
    vectors, table, bias, labels, shares = drawn(40, spread=30.0)
    loss, right = word_loss_in_chunks(vectors, table, bias, labels, shares)
    loss.backward()
    assert torch.isfinite(loss)
    for leaf in (vectors, table, bias):
        assert leaf.grad is not None
        assert bool(torch.isfinite(leaf.grad).all())
    expected, _ = word_loss(vectors, table, bias, labels, shares)
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=0.01)
    assert right.dtype == torch.bool
