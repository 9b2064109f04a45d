"""CKA against sklearn's kernels, a number worked by hand, and what it must not depend on."""

import math

import numpy as np
import pytest
import torch
from sklearn.metrics.pairwise import linear_kernel
from sklearn.preprocessing import KernelCenterer

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS, layer_similarity, linear_cka


def draw(num: int, width: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num, width, generator=generator) + 3.0


def by_kernels(x: torch.Tensor, y: torch.Tensor) -> float:
    """The definition through HSIC: centred Gram matrices, their inner products."""
    kernels = [
        KernelCenterer().fit_transform(linear_kernel(part.double().numpy())) for part in (x, y)
    ]
    cross, first, second = (
        float((a * b).sum())
        for a, b in (kernels, (kernels[0], kernels[0]), (kernels[1], kernels[1]))
    )
    return cross / math.sqrt(first * second)


def unbiased_hsic(x: np.ndarray, y: np.ndarray) -> float:
    """Song et al. 2012, equation 4, term by term."""
    k, h = (linear_kernel(part) for part in (x, y))
    np.fill_diagonal(k, 0)
    np.fill_diagonal(h, 0)
    n, ones = len(k), np.ones(len(k))
    return float(
        np.trace(k @ h)
        + (ones @ k @ ones) * (ones @ h @ ones) / ((n - 1) * (n - 2))
        - 2 / (n - 2) * (ones @ k @ h @ ones)
    ) / (n * (n - 3))


def test_by_hand() -> None:
    # Centred, x is (-1, 1, 0) and y is (-1, 0, 1): (x . y)^2 / (|x|^2 |y|^2) = 1 / 4.
    x, y = torch.tensor([[0.0], [2.0], [1.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    assert linear_cka(x, y) == pytest.approx(0.25)
    found = layer_similarity(x[None], y[None])
    assert found.plain[0, 0] == pytest.approx(0.25)
    assert math.isnan(found.debiased[0, 0])  # of three examples there is no such estimate


@pytest.mark.parametrize(("num", "widths"), [(50, (6, 9)), (8, (20, 5))])
def test_it_is_the_kernel_form(num: int, widths: tuple[int, int]) -> None:
    x, y = draw(num, widths[0], 0), draw(num, widths[1], 1)
    y[:, : min(widths)] += x[:, : min(widths)]
    assert linear_cka(x, y) == pytest.approx(by_kernels(x, y), rel=1e-6)
    first, second = torch.stack([x, x * 2]), torch.stack([y, y + 1, draw(num, widths[1], 2)])
    found = layer_similarity(first, second)
    assert found.plain.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        assert found.plain[i, j] == pytest.approx(by_kernels(first[i], second[j]), rel=1e-6)
        a, b = first[i].double().numpy(), second[j].double().numpy()
        expected = unbiased_hsic(a, b) / math.sqrt(unbiased_hsic(a, a) * unbiased_hsic(b, b))
        assert found.debiased[i, j] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_rotation_scale_and_shift_change_nothing() -> None:
    x = draw(40, 7, 0)
    rotation, _ = torch.linalg.qr(draw(7, 7, 1).double())
    turned = (x.double() @ rotation * 5 + 2).float()
    assert linear_cka(x, turned) == pytest.approx(1.0, abs=1e-6)
    # But a change of one direction's scale does.
    assert linear_cka(x, x * torch.tensor([9.0, *[1.0] * 6])) < 0.9


def test_the_same_is_exactly_one() -> None:
    states = torch.stack([draw(30, 5, seed) for seed in range(3)])
    found = layer_similarity(states, states.clone())
    assert (np.diagonal(found.plain) == 1).all()
    assert (np.diagonal(found.debiased) == 1).all()


def test_few_examples_flatter_the_plain_estimate_only() -> None:
    """Unrelated vectors: plain is far above 0 when they are wide, debiased is not."""
    found = layer_similarity(draw(40, 200, 0)[None], draw(40, 200, 1)[None])
    assert found.plain[0, 0] > 0.7
    assert abs(found.debiased[0, 0]) < 0.1


def test_chance_is_the_highest_of_the_shuffled_examples() -> None:
    first, second = draw(12, 4, 0), draw(12, 30, 1)
    found = layer_similarity(first[None], second[None], seed=5)
    generator = torch.Generator().manual_seed(5)
    orders = [torch.randperm(12, generator=generator) for _ in range(NUM_PERMUTATIONS)]
    plain = [by_kernels(first, second[order]) for order in orders]
    assert found.plain_chance[0, 0] == pytest.approx(max(plain), rel=1e-6)
    a, b = first.double().numpy(), second.double().numpy()
    own = math.sqrt(unbiased_hsic(a, a) * unbiased_hsic(b, b))
    debiased = [unbiased_hsic(a, b[order.numpy()]) / own for order in orders]
    assert found.debiased_chance[0, 0] == pytest.approx(max(debiased), rel=1e-6)


def test_related_vectors_exceed_chance_by_both_estimates() -> None:
    x = draw(60, 100, 0)
    found = layer_similarity(x[None], (x + 0.5 * draw(60, 100, 1))[None])
    assert found.plain[0, 0] > found.plain_chance[0, 0] > 0.5  # few examples: chance is high
    assert found.debiased[0, 0] > 0.4 > 0.2 > found.debiased_chance[0, 0]


def test_nan_and_no_spread_are_nan() -> None:
    x = draw(10, 4, 0)
    broken = x.clone()
    broken[3, 1] = torch.nan
    found = layer_similarity(x[None], torch.stack([broken, torch.ones_like(x), x]))
    assert np.isnan(found.plain[0, :2]).all()
    assert found.plain[0, 2] == 1
    assert math.isnan(linear_cka(x, broken))


def test_a_single_example_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two examples, but got 1"):
        layer_similarity(torch.zeros(1, 1, 2), torch.zeros(1, 1, 2))
