"""The table of objectives: each is pure, and does what its paper says, counted over many draws."""

from dataclasses import replace

import numpy as np
import pytest

from bertcore.lessons.papers import read_papers
from bertcore.model.objectives.draw import Given
from bertcore.model.objectives.row import IGNORED
from bertcore.model.objectives.table import OBJECTIVES, count
from tests.bertcore.model.objectives.rows import PIECES, row_of

LONG = Given(
    row=row_of(256, second=True),
    pieces=PIECES,
    second_begins=129,
    others=(np.arange(20, 400),),
)
"""Long enough that the ends of a text hardly matter."""
SHORT = replace(LONG, row=row_of(30, second=True), second_begins=16)
NAMES = list(OBJECTIVES)
EXACT = 0.004
"""Of a share of 256 tokens, which is a whole number of them."""


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_draw_and_changes_nothing(name: str) -> None:
    entry, before = OBJECTIVES[name], SHORT.row.ids.copy()
    share = entry.share or 0.0
    first, second = (entry.draw(SHORT, np.random.default_rng(5), share) for _ in range(2))
    np.testing.assert_array_equal(first.corrupted.input_ids, second.corrupted.input_ids)
    np.testing.assert_array_equal(first.corrupted.labels, second.corrupted.labels)
    assert first.fates == second.fates
    assert len(first.fates) == len(first.corrupted.input_ids)
    np.testing.assert_array_equal(SHORT.row.ids, before)


@pytest.mark.parametrize("name", [name for name in NAMES if OBJECTIVES[name].rates])
def test_the_papers_shares_come_out(name: str) -> None:
    counts = count(name, LONG, num_draws=200, seed=1)
    for rate in counts.rates:
        assert rate.low <= rate.mean <= rate.high
        # Half an interval more: 20 rates at 95% would miss one.
        room = 1.5 * (rate.high - rate.mean) + EXACT
        if name == "spans" and rate.unit:
            # The last span of a row is cut off where the share is reached.
            room = 0.8
        if name == "t5-spans" and rate.unit:
            room = 0.12  # 38 pieces in 13 spans
        if name == "bart-infilling":
            # The released configuration draws 3.5 words and its paper says 3; spans that run into
            # each other are one.
            room += 0.9 if rate.unit else 0.03
        assert abs(rate.mean - rate.expected) <= room, rate


def test_a_chosen_share_is_expected_in_place_of_the_papers() -> None:
    rates = count("masked-words", LONG, share=0.4, num_draws=20).rates
    assert rates[0].mean == pytest.approx(0.4, abs=EXACT)
    assert (rates[0].paper, rates[0].expected) == (0.15, 0.4)
    assert rates[1].expected == rates[1].paper == 0.8


def test_fates_tell_what_was_changed() -> None:
    for name in ("masked-words", "whole-words", "spans", "unilm", "mass"):
        drawn = OBJECTIVES[name].draw(SHORT, np.random.default_rng(3), OBJECTIVES[name].share or 0)
        ids, old = drawn.corrupted.input_ids, SHORT.row.ids
        for place, fate in enumerate(drawn.fates):
            assert (ids[place] == PIECES.mask_id) == (fate == "mask")
            if fate in ("", "kept"):
                assert ids[place] == old[place]


def test_replaced_tokens_are_those_that_differ() -> None:
    class Right:
        """A generator that is always right at even places."""

        def __call__(self, hidden: object) -> np.ndarray:
            labels = hidden.labels  # type: ignore[attr-defined]
            places = np.flatnonzero(labels != IGNORED)
            logits = np.full((len(places), PIECES.size), -1e9)
            wanted = np.where(places % 2 == 0, labels[places], 9)
            logits[np.arange(len(places)), wanted] = 0
            return logits

    given = replace(LONG, generator=Right())
    drawn = OBJECTIVES["replaced-tokens"].draw(given, np.random.default_rng(0), 0.15)
    assert drawn.is_replaced is not None
    for place, fate in enumerate(drawn.fates):
        assert (fate == "replaced") == bool(drawn.is_replaced[place])
        if fate:
            assert fate == ("lucky" if place % 2 == 0 else "replaced")
    np.testing.assert_array_equal(drawn.is_replaced, drawn.corrupted.input_ids != given.row.ids)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("name", [name for name in NAMES if OBJECTIVES[name].share])
def test_a_share_of_nothing_or_all_is_refused(name: str, share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        count(name, SHORT, share=share, num_draws=2)


@pytest.mark.parametrize("name", NAMES)
def test_each_entry_is_whole(name: str) -> None:
    entry = OBJECTIVES[name]
    assert entry.name == name
    assert 2017 < entry.year < 2024
    assert entry.formula.startswith("L = ")
    assert read_papers().claims_about(entry.name)
