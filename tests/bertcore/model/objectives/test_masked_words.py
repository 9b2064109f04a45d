"""Masked pieces, words and spans: the paper's shares, the library's masks, what is left alone.

The statistical tests draw with fixed seeds; each bound is five standard errors or a chi-square
quantile of 1 in 10,000.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare
from transformers import BertTokenizerFast, DataCollatorForLanguageModeling

from bertcore.model.objectives import (
    IGNORED,
    Corrupted,
    Pieces,
    Row,
    mask_pieces,
    mask_spans,
    mask_whole_words,
    sample,
)
from bertcore.model.objectives.masking import num_masked
from tests.bertcore.model.objectives.rows import PIECES, row_of

DRAWS = 1000
MASKS = {"pieces": mask_pieces, "words": mask_whole_words, "spans": mask_spans}


def hidden(found: Corrupted) -> np.ndarray:
    return np.flatnonzero(found.labels != IGNORED)


@given(
    kind=st.sampled_from(sorted(MASKS)),
    length=st.integers(3, 90),
    seed=st.integers(0, 10**6),
    share=st.floats(0.02, 0.9),
    second=st.booleans(),
)
def test_only_text_is_hidden_and_it_can_be_put_back(
    kind: str, length: int, seed: int, share: float, second: bool
) -> None:
    row = row_of(length, seed % 50, second=second and length > 8)
    found = MASKS[kind](row, PIECES, np.random.default_rng(seed), share=share)
    places = hidden(found)
    assert not row.is_special[places].any()
    np.testing.assert_array_equal(found.labels[places], row.ids[places])
    restored = found.input_ids.copy()
    restored[places] = found.labels[places]
    np.testing.assert_array_equal(restored, row.ids)
    assert [place for span in found.spans for place in range(*span)] == places.tolist()
    assert len(found.became) == len(found.spans)
    again = MASKS[kind](row, PIECES, np.random.default_rng(seed), share=share)
    np.testing.assert_array_equal(again.input_ids, found.input_ids)


@pytest.mark.parametrize("kind", ["pieces", "words", "spans"])
def test_shares_of_mask_kept_and_random(kind: str) -> None:
    row, rng = row_of(128), np.random.default_rng(3)
    counts: Counter[str] = Counter()
    for _ in range(DRAWS):
        counts.update(MASKS[kind](row, PIECES, rng).became)
    wanted = [p * sum(counts.values()) for p in (0.8, 0.1, 0.1)]
    assert chisquare([counts[n] for n in ("mask", "kept", "random")], wanted).pvalue > 1e-4
    assert set(mask_pieces(row, PIECES, rng, actions=(1.0, 0.0, 0.0)).became) == {"mask"}


def test_whole_words_are_whole() -> None:
    row, rng = row_of(128), np.random.default_rng(6)
    words = row.words()
    assert any(end - start > 1 for start, end in words)
    numbers = []
    for _ in range(200):
        places = set(hidden(mask_whole_words(row, PIECES, rng)).tolist())
        for start, end in words:
            assert len(places & set(range(start, end))) in (0, end - start)
        numbers.append(len(places))
    wanted = num_masked(128, 128, 0.15)
    assert max(numbers) == wanted
    assert np.mean(numbers) > wanted - 1


@pytest.mark.filterwarnings("ignore:Random token replacement is not supported")
@pytest.mark.parametrize("whole_words", [False, True])
def test_masks_are_those_of_the_library_collator(whole_words: bool) -> None:
    """Over 600 draws of one row: the share hidden, what became of it, and words that stay whole."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{i}" for i in range(495))]
    library = BertTokenizerFast(vocab={name: i for i, name in enumerate(names)})
    row = row_of(82, seed=3)
    ids = np.where(row.is_special, row.ids, row.ids % 450 + 20)
    row = replace(row, ids=ids)
    pieces = Pieces(size=500, mask_id=4, cls_id=2, sep_id=3)
    collator = DataCollatorForLanguageModeling(library, whole_word_mask=whole_words, seed=0)
    rng = np.random.default_rng(7)
    known = {
        "input_ids": ids.tolist(),
        "special_tokens_mask": row.is_special.astype(int).tolist(),
        "attention_mask": [1] * len(ids),
        **({"offset_mapping": _offsets(row)} if whole_words else {}),
    }
    draws = 600
    hidden_often = np.zeros((2, len(ids)))
    became = np.zeros((2, 3))
    for _ in range(draws):
        theirs = collator([dict(known)])
        ours = (mask_whole_words if whole_words else mask_pieces)(row, pieces, rng)
        both = (
            (theirs["input_ids"][0].numpy(), theirs["labels"][0].numpy()),
            (ours.input_ids, ours.labels),
        )
        for side, (input_ids, labels) in enumerate(both):
            at = labels != IGNORED
            np.testing.assert_array_equal(labels[at], ids[at])
            hidden_often[side] += at
            is_mask, is_kept = input_ids[at] == 4, input_ids[at] == ids[at]
            became[side] += is_mask.sum(), is_kept.sum(), (~is_mask & ~is_kept).sum()
            if whole_words:
                assert all(len(set(at[start:end])) == 1 for start, end in row.words())
    shares = hidden_often.sum(1) / draws / len(ids)
    assert abs(shares[0] - shares[1]) < 0.015
    if whole_words:  # the library always writes [MASK] then
        assert became[0, 1:].sum() == 0
    else:
        assert chi2_contingency(became).pvalue > 1e-4


def _offsets(row: Row) -> list[tuple[int, int]]:
    """Character offsets as the library's tokenizers give them: pieces of a word touch."""
    offsets, at = [], 0
    for special, starts in zip(row.is_special, row.starts_word, strict=True):
        if special:
            offsets.append((0, 0))
            continue
        at += int(starts)
        offsets.append((at, at + 3))
        at += 3
    return offsets


# ---- spans ----


def test_spans_have_the_share_and_begin_and_end_with_words() -> None:
    row, rng = row_of(200), np.random.default_rng(8)
    number = int(np.ceil(0.15 * len(row.text_places)))
    starts = {start for start, _ in row.words()}
    ends = {end for _, end in row.words()}
    cut = 0
    for _ in range(300):
        found = mask_spans(row, PIECES, rng)
        assert len(hidden(found)) == number
        assert all(start in starts for start, _ in found.spans)
        cut += sum(end not in ends for _, end in found.spans)
        assert all(a[1] < b[0] for a, b in zip(found.spans, found.spans[1:], strict=False))
    assert cut <= 300  # at most the last span of a row


@pytest.mark.parametrize("kind", sorted(MASKS))
def test_nothing_to_hide_is_refused(kind: str) -> None:
    empty = Row(np.array([2, 3]), np.array([True, True]), np.array([True, True]))
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="the text has 0 tokens"):
        MASKS[kind](empty, PIECES, rng)
    for share in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="expected above 0 and below 1"):
            MASKS[kind](row_of(20), PIECES, rng, share=share)
    for actions in ((0.8, 0.1, 0.2), (np.nan, 1.0, 0.5), (1.5, -0.5, 0.0)):
        with pytest.raises(ValueError, match="1 in all"):
            mask_pieces(row_of(20), PIECES, rng, actions=actions)


def test_samples_follow_the_softmax() -> None:
    logits = np.array([2.0, 1.0, 0.0, -1.0])
    drawn = sample(np.tile(logits, (4000, 1)), np.random.default_rng(2))
    p = np.exp(logits) / np.exp(logits).sum()
    assert chisquare(np.bincount(drawn, minlength=4), 4000 * p).pvalue > 1e-4
