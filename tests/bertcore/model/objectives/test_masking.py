"""Masking: exact counts, 80/10/10, specials untouched, reproducible."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from bertcore.training.pretraining import Masked, mask_tokens, num_masked

V, MASK, FIRST = 1000, 4, 5


def rows(lengths: list[int], width: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Rows [CLS] x x x [SEP] and padding; returns ids and where tokens may be hidden."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.zeros(len(lengths), width, dtype=torch.int64)
    maskable = torch.zeros(len(lengths), width, dtype=torch.bool)
    for row, length in enumerate(lengths):
        ids[row, 1 : length - 1] = torch.randint(FIRST, V, (length - 2,), generator=generator)
        ids[row, 0], ids[row, length - 1] = 2, 3
        maskable[row, 1 : length - 1] = True
    return ids, maskable


def mask(ids: Tensor, maskable: Tensor, counts: list[int], p: int, seed: int) -> Masked:
    return mask_tokens(
        ids,
        maskable=maskable,
        counts=torch.tensor(counts),
        max_predictions=p,
        mask_id=MASK,
        vocab_size=V,
        generator=torch.Generator().manual_seed(seed),
    )


def test_the_count_is_that_of_the_specification() -> None:
    for length in range(3, 600):
        assert num_masked(length, 20) == min(20, max(1, round(0.15 * length)))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(3, 30), min_size=1, max_size=6),
    st.integers(30, 40),
    st.integers(0, 10**6),
    st.data(),
)
def test_properties(lengths: list[int], width: int, seed: int, data: st.DataObject) -> None:
    ids, maskable = rows(lengths, width, seed)
    counts = [data.draw(st.integers(0, length - 2)) for length in lengths]
    p = data.draw(st.integers(max([1, *counts]), 50))
    before = ids.clone()
    masked = mask(ids, maskable, counts, p, seed)
    assert torch.equal(ids, before)  # the caller's tensor is left alone
    assert masked.positions.shape == masked.labels.shape == masked.weights.shape == (len(ids), p)
    assert masked.weights.sum(1).tolist() == counts
    changed = masked.input_ids != ids
    for row, count in enumerate(counts):
        positions = masked.positions[row, :count]
        assert (positions.diff() > 0).all()  # sorted, each once
        assert maskable[row, positions].all()
        assert masked.labels[row, :count].tolist() == ids[row, positions].tolist()
        for part in (masked.positions, masked.labels, masked.weights):
            assert not part[row, count:].any()
        assert (masked.action[row, count:] == -1).all()
        elsewhere = torch.ones(width, dtype=torch.bool)
        elsewhere[positions] = False
        assert not changed[row, elsewhere].any()
        for place, action in zip(positions, masked.action[row, :count], strict=True):
            if action == 0:
                assert masked.input_ids[row, place] == MASK
            elif action == 1:
                assert not changed[row, place]
            else:
                assert action == 2
                assert 0 <= masked.input_ids[row, place] < V


def test_shares_and_places_are_even() -> None:
    width, num = 24, 20_000
    ids, maskable = rows([width] * num, width)
    masked = mask(ids, maskable, [4] * num, 4, seed=1)
    total = 4 * num
    for action, share in ((0, 0.8), (1, 0.1), (2, 0.1)):
        found = int((masked.action == action).sum())
        assert abs(found - share * total) < 5 * math.sqrt(total * share * (1 - share))
    # Each of the 22 places is hidden in 4 of 22 rows.
    often = torch.bincount(masked.positions.flatten(), minlength=width)[1:-1]
    share = 4 / 22
    assert (often - num * share).abs().max() < 5 * math.sqrt(num * share * (1 - share))
    # Random ids come evenly from the whole vocabulary, special tokens included.
    drawn = masked.input_ids.gather(1, masked.positions)[masked.action == 2]
    assert int(drawn.min()) < FIRST
    expected = len(drawn) / 10
    tenths = torch.bincount(drawn // (V // 10), minlength=10)
    assert (tenths - expected).abs().max() < 5 * math.sqrt(expected)
    # What becomes of a token does not depend on its place.
    early = masked.positions < 12
    share_early = float((masked.action[early] == 0).float().mean())
    assert abs(share_early - 0.8) < 5 * math.sqrt(0.16 / int(early.sum()))


@pytest.mark.parametrize(("counts", "p"), [([4, 1], 5), ([2, 1], 1)])
def test_too_many_are_refused(counts: list[int], p: int) -> None:
    ids, maskable = rows([5, 5], 8)
    with pytest.raises(ValueError, match="more tokens are to be hidden than there are"):
        mask(ids, maskable, counts, p, seed=0)
