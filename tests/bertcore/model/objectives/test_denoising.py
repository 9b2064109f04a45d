"""T5, BART and MASS: the decoder can rebuild the text, and the shares are those of the papers."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bertcore.model.objectives import (
    Row,
    bart_deletion,
    bart_infilling,
    bart_masking,
    bart_noise,
    bart_rotation,
    bart_sentences,
    mass,
    t5_noise,
    t5_spans,
)
from tests.bertcore.model.objectives.rows import PIECES, row_of

DRAWS = 1000


@given(length=st.integers(4, 120), seed=st.integers(0, 10**6), share=st.floats(0.05, 0.6))
def test_sentinels_stand_for_what_the_decoder_writes(length: int, seed: int, share: float) -> None:
    row = row_of(length, seed % 40)
    found = t5_spans(row, PIECES, np.random.default_rng(seed), share=share)
    written: dict[int, list[int]] = {}
    for token in found.labels[:-1].tolist():
        if token in PIECES.sentinel_ids:
            written[token] = []
        else:
            written[list(written)[-1]].append(token)
    rebuilt: list[int] = []
    for token in found.input_ids[:-1].tolist():
        rebuilt += written.get(token, [token])
    assert rebuilt == row.ids[row.text_places].tolist()
    assert list(written) == list(PIECES.sentinel_ids[: len(written)])
    assert found.input_ids[-1] == found.labels[-1] == PIECES.sep_id
    np.testing.assert_array_equal(found.decoder_input_ids[1:], found.labels[:-1])


def test_noise_has_the_share_and_the_spans_of_the_paper() -> None:
    rng = np.random.default_rng(1)
    length = 512
    shares, spans, lengths = [], [], []
    for _ in range(DRAWS):
        noise = t5_noise(length, rng)
        assert not noise[0]
        assert noise[-1]
        starts = np.flatnonzero(noise & ~np.append(False, noise[:-1]))
        shares.append(noise.mean())
        spans.append(len(starts))
        lengths.append(noise.sum() / len(starts))
    assert set(shares) == {round(0.15 * length) / length}
    assert set(spans) == {round(round(0.15 * length) / 3)}
    assert np.mean(lengths) == pytest.approx(3, abs=0.05)


# ---- BART ----


@pytest.mark.parametrize("noise", ["masking", "deletion", "infilling", "sentences", "rotation"])
def test_the_decoder_writes_the_whole_text(noise: str) -> None:
    row, rng = row_of(60), np.random.default_rng(4)
    found = {
        "masking": lambda: bart_masking(row, PIECES, rng),
        "deletion": lambda: bart_deletion(row, rng),
        "infilling": lambda: bart_infilling(row, PIECES, rng),
        "sentences": lambda: bart_sentences(row, rng),
        "rotation": lambda: bart_rotation(row, rng),
    }[noise]()
    np.testing.assert_array_equal(found.labels, row.ids)
    np.testing.assert_array_equal(found.decoder_input_ids[1:], row.ids[:-1])
    assert (found.input_ids[0], found.input_ids[-1]) == (PIECES.cls_id, PIECES.sep_id)
    text = row.ids[row.text_places]
    if noise in ("sentences", "rotation"):
        assert sorted(found.input_ids) == sorted(row.ids)
    if noise == "deletion":
        assert len(found.input_ids) == len(row) - int(np.ceil(0.3 * len(text)))
    if noise == "masking":
        assert (found.input_ids == PIECES.mask_id).sum() == np.ceil(0.3 * len(text))


def test_infilling_removes_words_for_one_mask_each() -> None:
    row, rng = row_of(200), np.random.default_rng(5)
    words = row.words()
    starts, ends = {start for start, _ in words}, {end for _, end in words}
    removed, empty, draws = 0, 0, 400
    for _ in range(draws):
        found = bart_infilling(row, PIECES, rng)
        gone = np.zeros(len(row), dtype=bool)
        for start, end in found.spans:
            assert start in starts
            assert end in ends
            gone[start:end] = True
        kept = row.ids[~gone]
        np.testing.assert_array_equal(found.input_ids[found.input_ids != PIECES.mask_id], kept)
        num_masks = int((found.input_ids == PIECES.mask_id).sum())
        assert num_masks >= len(found.spans)
        empty += num_masks - len(found.spans)
        removed += sum(1 for start, _ in words if gone[start])
    # Spans that run into each other or past the end take a little from the share.
    assert 0.22 < removed / draws / len(words) <= 0.3 + 1 / len(words)
    # Of lengths with mean 3.5, exp(-3.5) = 3% are 0.
    per_row = 0.3 * len(words) / 3.5
    assert empty / draws == pytest.approx(np.exp(-3.5) * per_row, rel=0.5)


def test_a_pair_is_one_document_whose_sentences_and_tokens_move() -> None:
    """A separator that kept its place would cut the sentence that moves across it."""
    ids = np.array([101, 5, 6, 7, 102, 102, 8, 9, 102])
    is_special = ids > 100
    row = Row(ids, is_special, np.ones(9, dtype=bool), np.isin(ids, (5, 8)))
    found = {tuple(bart_sentences(row, np.random.default_rng(seed)).input_ids) for seed in range(9)}
    assert found == {(101, 5, 6, 7, 8, 9, 102), (101, 8, 9, 5, 6, 7, 102)}
    for seed in range(9):
        turned = bart_rotation(row, np.random.default_rng(seed))
        text = turned.input_ids[1:-1]
        np.testing.assert_array_equal(np.roll(text, -text.tolist().index(5)), [5, 6, 7, 8, 9])
        np.testing.assert_array_equal(turned.labels, [101, 5, 6, 7, 8, 9, 102])


def test_barts_noise_shuffles_each_text_and_then_fills_in() -> None:
    """Two texts of three sentences of four words: each word is its place, and says its sentence."""
    ids = np.arange(100, 127)
    is_special = np.isin(np.arange(27), (0, 13, 26))
    starts = np.isin(np.arange(27), (1, 5, 9, 14, 18, 22))
    row = Row(ids, is_special, np.ones(27, dtype=bool), starts)
    of = {
        100 + place: int(starts[: place + 1].sum()) for place in range(27) if not is_special[place]
    }
    orders = set()
    for seed in range(200):
        found = bart_noise(row, PIECES, np.random.default_rng(seed), share=1e-9)  # one word
        np.testing.assert_array_equal(found.labels, ids)
        np.testing.assert_array_equal(found.decoder_input_ids[1:], ids[:-1])
        assert len(set(ids) - set(found.input_ids)) == 1
        kept = found.input_ids[found.input_ids != PIECES.mask_id]
        assert (kept[0], kept[-1]) == (100, 126)
        (middle,) = np.flatnonzero(kept == 113)
        for text, own in ((kept[1:middle], {1, 2, 3}), (kept[middle + 1 : -1], {4, 5, 6})):
            order = [number for number, _ in groupby(of[token] for token in text.tolist())]
            assert sorted(order) == sorted(own)  # whole: none comes in two parts
            assert all(
                (np.diff(list(part)) > 0).all() for _, part in groupby(text, lambda t: of[t])
            )
            orders.add(tuple(order))
    assert len(orders) == 2 * 6
    one = replace(row, starts_sentence=np.zeros(27, dtype=bool))
    found = bart_noise(one, PIECES, np.random.default_rng(0), share=1e-9)
    assert (np.diff(found.input_ids[found.input_ids != PIECES.mask_id]) > 0).all()
    with pytest.raises(ValueError, match="sentences"):
        bart_noise(replace(row, starts_sentence=None), PIECES, np.random.default_rng(0))


# ---- MASS ----


def test_a_fragment_is_half_and_lies_as_in_the_code() -> None:
    row, rng = row_of(42), np.random.default_rng(7)
    places = row.text_places
    where = {"start": 0, "end": 0, "within": 0}
    for _ in range(DRAWS):
        found = mass(row, PIECES, rng)
        ((start, end),) = found.spans
        assert end - start == 20
        np.testing.assert_array_equal(found.labels, row.ids[start:end])
        np.testing.assert_array_equal(found.decoder_input_ids, row.ids[start - 1 : end - 1])
        np.testing.assert_array_equal(found.decoder_positions, np.arange(start - 1, end - 1))
        name = "start" if start == places[0] else "end" if end == places[-1] + 1 else "within"
        where[name] += 1
    # 20% at each end, and of the 60% anywhere 2 in 21 by chance.
    edge = 0.2 + 0.6 / 21
    wanted = [edge * DRAWS, edge * DRAWS, (1 - 2 * edge) * DRAWS]
    assert chisquare(list(where.values()), wanted).pvalue > 1e-4


# ---- bad input ----


def test_texts_that_are_too_short_are_refused() -> None:
    rng = np.random.default_rng(0)
    word = row_of(3)
    for refused in (lambda: t5_spans(word, PIECES, rng), lambda: mass(word, PIECES, rng)):
        with pytest.raises(ValueError, match="needs at least 2"):
            refused()
    nothing = Row(np.array([2, 3]), np.array([True, True]), np.array([True, True]))
    for refused in (
        lambda: bart_masking(nothing, PIECES, rng),
        lambda: bart_deletion(nothing, rng),
        lambda: bart_infilling(nothing, PIECES, rng),
        lambda: bart_rotation(nothing, rng),
    ):
        with pytest.raises(ValueError, match="the text has 0 tokens"):
            refused()
    few = replace(PIECES, sentinel_ids=PIECES.sentinel_ids[:2])
    with pytest.raises(ValueError, match=r"needs \d+ sentinels and the vocabulary has 2"):
        t5_spans(row_of(100), few, rng)
    for share in (0.0, 1.0):
        with pytest.raises(ValueError, match="expected above 0 and below 1"):
            t5_spans(row_of(20), PIECES, rng, share=share)
    with pytest.raises(ValueError, match="1 in all"):
        mass(row_of(20), PIECES, rng, actions=(np.nan, 1.0, 0.5))
