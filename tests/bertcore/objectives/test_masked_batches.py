"""Words and spans of a batch: the choices of a plain loop, and the shares of the one-row functions.

The statistical tests draw with fixed seeds; each bound is a chi-square quantile of 1 in 10,000.
"""

import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency

from bertcore.objectives import (
    Corrupted,
    Row,
    boundaries,
    mask_spans,
    mask_whole_words,
    span_lengths,
)
from bertcore.objectives.masking import (
    Masked,
    MaskedSpans,
    mask_spans_of_rows,
    mask_words,
    num_masked,
)
from tests.bertcore.objectives.rows import PIECES, SIZE, row_of

DRAWS = 1000
P = 24


def batch_of(rows: list[Row], padding: int = 3) -> dict[str, torch.Tensor]:
    """Return rows of equal length as a batch, with padding behind."""
    ids = np.stack([np.append(row.ids, [0] * padding) for row in rows])
    special = np.stack([np.append(row.is_special, [True] * padding) for row in rows])
    starts = np.stack([np.append(row.starts_word, [True] * padding) for row in rows])
    return {
        "input_ids": torch.from_numpy(ids),
        "maskable": torch.from_numpy(~special),
        "starts_word": torch.from_numpy(starts),
    }


def words_hidden(rows: list[Row], seed: int, most: int = P) -> Masked:
    counts = torch.tensor([num_masked(len(row), most) for row in rows])
    return mask_words(
        **batch_of(rows),
        counts=counts,
        max_predictions=most,
        mask_id=PIECES.mask_id,
        vocab_size=SIZE,
        generator=torch.Generator().manual_seed(seed),
    )


def spans_hidden(rows: list[Row], seed: int) -> MaskedSpans:
    counts = [int(np.ceil(0.15 * len(row.text_places))) for row in rows]
    return mask_spans_of_rows(
        **batch_of(rows),
        counts=torch.tensor(counts),
        lengths=span_lengths(0.2, 10),
        max_predictions=P,
        mask_id=PIECES.mask_id,
        unigrams=np.arange(500, 520),
        generator=torch.Generator().manual_seed(seed),
    )


def places(masked: Masked, row: int) -> list[int]:
    found: list[int] = masked.positions[row][masked.weights[row] == 1].tolist()
    return found


def test_rows_with_sources_of_their_own_do_not_depend_on_the_batch() -> None:
    rows = [row_of(60, seed) for seed in range(4)]

    def hide(some: list[int]) -> list[list[int]]:
        found = mask_words(
            **batch_of([rows[i] for i in some]),
            counts=torch.tensor([9] * len(some)),
            max_predictions=9,
            mask_id=4,
            vocab_size=SIZE,
            generator=[torch.Generator().manual_seed(i) for i in some],
        )
        return [found.input_ids[i].tolist() for i in range(len(some))]

    assert hide([0, 1, 2, 3])[1:3] == hide([1, 2])


@pytest.mark.parametrize("kind", ["words", "spans"])
def test_places_and_actions_are_those_of_the_functions_for_one_row(kind: str) -> None:
    """Of 1,000 draws: how often each place is hidden, how long runs are, what became of them."""
    row = row_of(60, seed=2)
    rng = np.random.default_rng(0)
    theirs: list[Corrupted] = [
        mask_whole_words(row, PIECES, rng, most=P)
        if kind == "words"
        else mask_spans(row, PIECES, rng)
        for _ in range(DRAWS)
    ]
    ours = words_hidden([row] * DRAWS, 7) if kind == "words" else spans_hidden([row] * DRAWS, 7)
    masked = ours if isinstance(ours, Masked) else ours.masked
    often = np.zeros((2, 60))
    became = np.zeros((2, 3))
    runs = np.zeros((2, 12))
    for number, other in enumerate(theirs):
        at = np.flatnonzero(other.labels >= 0)
        both = (places(masked, number), at.tolist())
        actions = masked.action[number][masked.weights[number] == 1].tolist()
        first = [
            action
            for place, action in zip(both[0], actions, strict=True)
            if kind == "words" or place - 1 not in both[0]
        ]
        became[0] += np.bincount(first, minlength=3)
        became[1] += [other.became.count(name) for name in ("mask", "kept", "random")]
        for side, found in enumerate(both):
            often[side][found] += 1
            cuts = np.flatnonzero(np.diff(found) > 1)
            for run in np.split(found, cuts + 1):
                runs[side, min(len(run), 11)] += 1
    for table in (often, became, runs):
        table = table[:, (table.sum(0) > 20)]
        assert chi2_contingency(table).pvalue > 1e-4


def test_a_span_is_replaced_as_one_and_has_its_ends() -> None:
    rows = [row_of(80, seed, second=seed % 3 == 0) for seed in range(30)]
    found = spans_hidden(rows, seed=3)
    for number, row in enumerate(rows):
        at = places(found.masked, number)
        assert len(at) == int(np.ceil(0.15 * len(row.text_places)))
        actions = dict(zip(at, found.masked.action[number].tolist(), strict=False))
        spans = [(p, p) for p in at if p - 1 not in at]
        spans = [(s, next(q for q in range(s, 90) if q not in at)) for s, _ in spans]
        for start, end in spans:
            assert len({actions[place] for place in range(start, end)}) == 1
            ids = found.masked.input_ids[number, start:end].numpy()
            if actions[start] == 0:
                assert (ids == PIECES.mask_id).all()
            elif actions[start] == 1:
                np.testing.assert_array_equal(ids, row.ids[start:end])
            else:
                assert ((ids >= 500) & (ids < 520)).all()
        expected = [(b.left, b.right, b.offset, b.place) for b in boundaries(row, spans)]
        ours = zip(
            found.left[number].tolist(),
            found.right[number].tolist(),
            found.offset[number].tolist(),
            at,
            strict=False,
        )
        assert list(ours) == expected
        assert not found.offset[number, len(at) :].any()
