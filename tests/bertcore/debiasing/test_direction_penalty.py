"""The penalty is the squared cosine of the states that count, with the measures' own direction."""

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.bias import find_direction, text_vectors
from bertcore.debiasing import PenalisedDirection, direction_pairs
from bertcore.debiasing.direction_penalty import (
    DirectionPenalty,
    Vectors,
    squared_cosines,
    start_penalty,
)
from bertcore.network.task_heads import encode_first_token
from tests.support.tiny import tiny_bert

PAIRS = (("she", "he"), ("woman", "man"), ("cat", "dog"))


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def penalty_of(bert: Bert, pairs: tuple[tuple[str, str], ...] = PAIRS) -> DirectionPenalty:
    settings = PenalisedDirection("mine", 0.5, pairs)
    return start_penalty(
        settings, bert.module, bert.tokenizer, vocab_size=bert.tokenizer.vocab_size
    )


def test_the_direction_is_that_of_the_words_states(bert: Bert) -> None:
    def words(side: int) -> Vectors:
        states = [bert.trace(pair[side]).hidden_states[-1][1:-1].mean(0) for pair in PAIRS]
        return torch.stack(states).double().numpy()

    expected = find_direction(words(0), words(1)).vector
    found = penalty_of(bert).vector
    torch.testing.assert_close(found.double(), torch.from_numpy(expected), atol=1e-5, rtol=0)

    def first(ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return encode_first_token(bert.module, ids, segments, mask)

    def of_cls(side: int) -> Vectors:
        texts, last = [pair[side] for pair in PAIRS], bert.config.num_hidden_layers
        return text_vectors(bert, texts, layer=last, pooling="cls")

    settings = PenalisedDirection("mine", 0.5, PAIRS)
    found = start_penalty(settings, first, bert.tokenizer, vocab_size=200).vector
    expected = find_direction(of_cls(0), of_cls(1)).vector
    torch.testing.assert_close(found.double(), torch.from_numpy(expected), atol=1e-5, rtol=0)


def test_the_direction_is_the_axis_along_which_pairs_differ_most() -> None:
    """Worked out by hand: 3 along the first axis, 1 along the second, whatever they share."""
    shared = np.array([[5.0, -2.0, 7.0], [1.0, 4.0, -3.0], [0.0, 9.0, 2.0], [-6.0, 1.0, 1.0]])
    half = np.array([[3.0, 0, 0], [3.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
    found = find_direction(shared + half, shared - half)
    np.testing.assert_allclose(found.vector, [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.explained[:3], [0.9, 0.1, 0], atol=1e-12)
    np.testing.assert_allclose(find_direction(shared - half, shared + half).vector, [-1, 0, 0])


def test_special_tokens_padding_and_the_pairs_do_not_count(bert: Bert) -> None:
    penalty, tokenizer = penalty_of(bert), bert.tokenizer
    ids = torch.tensor(
        [
            [tokenizer.cls_id, *tokenizer.encode_word("she"), *tokenizer.encode_word("house")],
            [tokenizer.mask_id, *tokenizer.encode_word("river"), tokenizer.pad_id],
        ]
    )
    mask = torch.tensor([[True, True, True], [True, True, False]])
    hidden = torch.randn(2, 3, 32, generator=torch.Generator().manual_seed(0))
    expected = sum(
        float(torch.cosine_similarity(hidden[r, t], penalty.vector, dim=0) ** 2)
        for r, t in ((0, 2), (1, 1))
    )
    assert float(penalty.total(hidden, ids, mask)) == pytest.approx(expected, rel=1e-5)
    of_cls = penalty.total(hidden[:, :1], ids, mask)  # the head reads [CLS] alone: it counts
    cosines = torch.cosine_similarity(hidden[:, 0], penalty.vector[None])
    assert float(of_cls) == pytest.approx(float((cosines**2).sum()), rel=1e-5)


def test_pieces_that_other_words_share_count(bert: Bert) -> None:
    penalty, tokenizer = penalty_of(bert, direction_pairs()), bert.tokenizer
    assert penalty.is_free[tokenizer.encode_word("woman")].all()
    pieces = tokenizer.encode_word("queen")
    assert len(pieces) > 1
    assert not penalty.is_free[pieces].any()


def test_extremes() -> None:
    vector = torch.tensor([1.0, 0.0])
    states = torch.tensor([[5.0, 0.0], [-0.1, 0.0], [0.0, 3.0], [0.0, 0.0], [1.0, 1.0]])
    found = squared_cosines(states, vector)
    torch.testing.assert_close(found, torch.tensor([1.0, 1.0, 0.0, 0.0, 0.5]))


def test_refusals(bert: Bert) -> None:
    with pytest.raises(ValueError, match="can write 1 of the 2 pairs"):
        penalty_of(bert, (("she", "he"), ("\u5979", "\u4ed6")))
    for weight in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="direction_penalty is"):
            PenalisedDirection("mine", weight, PAIRS)
