"""Patching many pairs: regions, means, what is left out, and files."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.analysis.patching import (
    PatchText,
    bundled_texts,
    patch,
    patch_pair,
    patch_texts,
    read_texts,
    word_answer,
)
from bertcore.analysis.patching.many import regions
from bertcore.data.files import BadRows
from tests.support.telling_words import telling_words
from tests.support.tiny import tiny_bert, tiny_config

SUBJECTS = ("cat", "house", "man", "film", "fish", "water")


LEAST = 0.02
"""A random network tells little apart."""


@pytest.fixture(autouse=True)
def _least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.analysis.patching.many.LEAST_DIFFERENCE", LEAST)


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=2))


def text(subject: str, other: str, word: str = "sat", against: str = "runs") -> PatchText:
    return PatchText(
        f"the {subject} on it [MASK] in the house",
        f"the {other} on it [MASK] in the house",
        word,
        against,
    )


def telling(bert: Bert) -> list[PatchText]:
    """Return pairs that this random network tells apart, with the words in the order that fits."""
    found = []
    for one, two in itertools.pairwise(SUBJECTS):
        plain = text(one, two)
        words = telling_words(bert, plain.first, plain.second)
        pair = patch_pair(bert, (plain.first, None), (plain.second, None))
        ends = patch(bert, pair, word_answer(bert, pair, *words), groups=[[]])
        if ends.first - ends.second >= LEAST:
            found.append(text(one, two, *words))
    assert len(found) >= 2
    return found


def test_regions_of_a_text(bert: Bert) -> None:
    pair = patch_pair(bert, (text("cat", "dog").first, None), (text("cat", "dog").second, None))
    # [CLS] the cat on it [MASK] in the house [SEP]
    assert regions(bert, pair) == [[0, 1], [2], [3, 4], [5], [6, 7, 8, 9]]
    first, second = "the [MASK] sat on the old mat", "the [MASK] sat on the new mat"
    pair = patch_pair(bert, (first, None), (second, None))
    assert regions(bert, pair) == [[0, 1], [6], [3, 4, 5], [2], [7, 8]]


def test_the_mean_is_of_the_pairs(bert: Bert) -> None:
    texts = telling(bert)
    for part in ("state", "head", "attention", "feed_forward"):
        found = patch_texts(bert, texts, part)  # type: ignore[arg-type]
        assert found.num_pairs == len(texts)
        singles = []
        for each in texts:
            pair = patch_pair(bert, (each.first, None), (each.second, None))
            answer = word_answer(bert, pair, each.word, each.other)
            one = patch(bert, pair, answer, part, groups=regions(bert, pair))  # type: ignore[arg-type]
            singles.append(one.shares)
        np.testing.assert_allclose(found.shares.mean, np.mean(singles, 0), atol=1e-6)
        assert (found.shares.low <= found.shares.mean + 1e-6).all()
        assert (found.shares.high >= found.shares.mean - 1e-6).all()
    assert found.difference.mean >= LEAST


def test_pairs_that_cannot_be_used_are_counted(bert: Bert) -> None:
    good = telling(bert)[0]
    odd = [
        PatchText("the cat [MASK]", "the old cat [MASK]", "sat", "runs", 2),
        PatchText("the cat [MASK]", "the dog [MASK]", "zebra", "runs", 3),
        PatchText("the cat [MASK]", "the cat [MASK]", "sat", "runs", 4),
        PatchText(good.first, good.second, good.other, good.word, 5),
        PatchText("the cat sat", "the dog sat", "sat", "runs", 6),
        PatchText("the cat [MASK]", "the dog [MASK]", "猫", "runs", 7),
    ]
    found = patch_texts(bert, [good, *odd])
    assert found.num_pairs == 1
    expected = [
        "do not align",
        "'zebra' is not a single piece",
        "the same",
        "nats",
        "[MASK]",
        "unknown",
    ]
    assert len(found.left_out) == len(expected)
    for row, (pair, part) in enumerate(zip(found.left_out, expected, strict=True), start=2):
        assert str(pair).startswith(f"Pair {row}: ")
        assert part in pair.sentence
    counts = {"unaligned": 1, "no_mask": 1, "words": 2, "unused": 1, "too_close": 1}
    assert found.num_left_out == counts
    with pytest.raises(ValueError, match="no pair is left"):
        patch_texts(bert, odd)


def test_our_own_pairs_are_well_formed() -> None:
    texts = bundled_texts()
    assert len(texts) == 40
    for each in texts:
        one, two = each.first.split(), each.second.split()
        assert len(one) == len(two)
        assert sum(a != b for a, b in zip(one, two, strict=True)) == 1
        assert one.count("[MASK]") == two.count("[MASK]") == 1
        assert (each.word, each.other) in {("is", "are"), ("was", "were")}
    assert len({each.first for each in texts}) == 40


def test_files_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("first,second,word_first,word_second\na [MASK],b [MASK],is,are\n,b,c,d\n")
    with pytest.raises(ValueError, match="row 2"):
        read_texts(path)
    bad_rows = BadRows(skip=True)
    assert read_texts(path, bad_rows=bad_rows) == (
        PatchText("a [MASK]", "b [MASK]", "is", "are", 1),
    )
    assert bad_rows.num == 1
    path.write_text("good,bad\na,b\n")
    with pytest.raises(ValueError, match="no column 'first'"):
        read_texts(path)


def test_progress_can_stop_it(bert: Bert) -> None:
    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    with torch.no_grad(), pytest.raises(KeyboardInterrupt):
        patch_texts(bert, telling(bert), on_fraction=stop)
