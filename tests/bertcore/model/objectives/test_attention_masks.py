"""Causal, UniLM and XLNet: who may look at whom, from the papers' figures."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given as example
from hypothesis import strategies as st
from scipy.stats import chisquare

from bertcore.model.objectives import (
    DIRECTIONS,
    IGNORED,
    OBJECTIVES,
    Row,
    allowed,
    causal,
    permute,
    unilm,
)
from bertcore.model.objectives.draw import Given
from tests.bertcore.model.objectives.rows import PIECES, row_of


def test_the_masks_of_five_tokens() -> None:
    table = {
        "left-to-right": ["10000", "11000", "11100", "11110", "11111"],
        "right-to-left": ["11111", "01111", "00111", "00011", "00001"],
        "prefix": ["11000", "11000", "11100", "11110", "11111"],
        "bidirectional": ["11111"] * 5,
    }
    for direction, rows in table.items():
        found = allowed(direction, 5, prefix=2)  # type: ignore[arg-type]
        assert ["".join("01"[int(cell)] for cell in row) for row in found] == rows


def test_causal_labels_are_the_next_tokens() -> None:
    row = row_of(20)
    found = causal(row)
    np.testing.assert_array_equal(found.input_ids, row.ids)
    np.testing.assert_array_equal(found.labels[:-1], row.ids[1:])
    assert found.labels[-1] == IGNORED
    assert not found.allowed[:-1][found.labels[:-1] != IGNORED][:, -1].any()
    with pytest.raises(ValueError, match="expected at least 2"):
        causal(Row(np.array([2]), np.array([True]), np.array([True])))
    with pytest.raises(ValueError, match="0 tokens"):
        causal(Row(np.array([2, 3]), np.array([True, True]), np.array([True, True])))


def test_unilm_draws_its_masks_by_their_shares() -> None:
    row, rng = row_of(40, second=True), np.random.default_rng(1)
    draw = OBJECTIVES["unilm"].draw
    half = len(row) // 2 + 1
    tables = {name: allowed(name, len(row), half) for name in DIRECTIONS}
    counts: Counter[str] = Counter()
    hidden = []
    for _ in range(1500):
        given = Given(row=row, pieces=PIECES, second_begins=half)
        found = draw(given, rng, 0.15).corrupted
        (name,) = [n for n, table in tables.items() if np.array_equal(table, found.allowed)]
        counts[name] += 1
        hidden.append(int((found.labels != IGNORED).sum()))
        assert not row.is_special[found.labels != IGNORED].any()
    wanted = [share * 1500 for share in DIRECTIONS.values()]
    assert chisquare([counts[name] for name in DIRECTIONS], wanted).pvalue > 1e-4
    assert set(hidden) == {round(0.15 * 40)}
    for one_sided in ("left-to-right", "right-to-left", "bidirectional"):
        unilm(row, PIECES, rng, direction=one_sided)  # of a single text
    for seed in range(6):  # whichever would be drawn
        with pytest.raises(ValueError, match="needs a pair"):
            draw(Given(row=row, pieces=PIECES), np.random.default_rng(seed), 0.15)
    with pytest.raises(ValueError, match="need a pair"):
        unilm(row, PIECES, rng, direction="prefix")


@example(length=st.integers(4, 60), seed=st.integers(0, 10**6))
def test_a_permutation_lets_each_see_what_comes_before_it(length: int, seed: int) -> None:
    row = row_of(length, seed % 30)
    found = permute(row, np.random.default_rng(seed))
    targets = np.flatnonzero(found.rank >= 0)
    assert sorted(found.rank[targets]) == list(range(len(targets)))
    assert not row.is_special[targets].any()
    np.testing.assert_array_equal(np.flatnonzero(found.labels != IGNORED), targets)
    known = np.flatnonzero(found.rank < 0)
    for place in range(length):
        sees = set(np.flatnonzero(found.content[place]).tolist())
        before = set(np.flatnonzero(found.rank < found.rank[place]).tolist())
        expected = before if place in targets else set(known.tolist())
        assert sees == expected | {place}
        assert set(np.flatnonzero(found.query[place]).tolist()) == expected - {place}


def test_a_sixth_is_predicted() -> None:
    row, rng = row_of(128), np.random.default_rng(2)
    numbers = {int((permute(row, rng).rank >= 0).sum()) for _ in range(50)}
    assert numbers == {round(126 / 6)}
    for share in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="expected above 0 and below 1"):
            permute(row_of(20), np.random.default_rng(0), share=share)
    with pytest.raises(ValueError, match="needs at least 2"):
        permute(row_of(3), rng)
