"""Masks over epochs: static ones come again, dynamic ones do not; both are those of training."""

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.words.epoch_masks import COPIES, FATES, NUM_EPOCHS, both_masks, epoch_masks
from bertcore.model.objectives.masking import num_masked

TEXT = "The film was very good. She sat on the mat in the old house. It had rained all night."


def test_static_masks_come_again_after_ten_epochs(bert: Bert) -> None:
    found = epoch_masks(bert, TEXT, seed=3)
    assert found.fates.shape == (NUM_EPOCHS, len(found.tokens))
    np.testing.assert_array_equal(found.fates[:COPIES], found.fates[COPIES:])
    assert found.num_masks == COPIES


def test_dynamic_masks_are_new_in_each_epoch(bert: Bert) -> None:
    found = epoch_masks(bert, TEXT, seed=3, dupe_factor=0)
    assert found.num_masks == NUM_EPOCHS
    static = epoch_masks(bert, TEXT, seed=3)
    assert found.tokens == static.tokens
    assert found.num_never < static.num_never


def test_hidden_tokens_of_both_ways_are_rows(bert: Bert) -> None:
    both = both_masks(bert, TEXT, seed=3)
    for name, way in (("static", both.static), ("dynamic", both.dynamic)):
        rows = [row for row in both.hidden if row.masks == name]
        assert [[row.epoch - 1, row.position] for row in rows] == np.argwhere(way.fates).tolist()
        for row in rows:
            assert row.token == way.tokens[row.position]
            assert row.became == FATES[way.fates[row.epoch - 1, row.position]]


@pytest.mark.parametrize(
    ("actions", "fates"),
    [((1.0, 0.0, 0.0), {1}), ((0.0, 1.0, 0.0), {2}), ((0.0, 0.2, 0.8), {2, 3})],
)
@pytest.mark.parametrize("dupe_factor", [0, COPIES])
def test_chosen_places_become_what_their_shares_say(
    bert: Bert, actions: tuple[float, float, float], fates: set[int], dupe_factor: int
) -> None:
    usual = epoch_masks(bert, TEXT, seed=3, dupe_factor=dupe_factor)
    found = epoch_masks(bert, TEXT, seed=3, dupe_factor=dupe_factor, actions=actions)
    np.testing.assert_array_equal(found.fates > 0, usual.fates > 0)
    assert set(found.fates[found.fates > 0].tolist()) == fates


def test_the_row_is_that_of_the_text(bert: Bert) -> None:
    found = epoch_masks(bert, TEXT)
    assert found.tokens == tuple(bert.tokenize(TEXT).tokens)
    assert found.num_text == len(found.tokens) - 2
    assert not found.fates[:, [0, -1]].any()
    wanted = num_masked(len(found.tokens), 99)
    np.testing.assert_array_equal((found.fates > 0).sum(1), wanted)


def test_of_a_long_text_the_first_row_is_followed(bert: Bert) -> None:
    text = " ".join(f"{word} came home." for word in ("man", "river", "film", "house") * 30)
    for dupe_factor in (0, 4):
        found = epoch_masks(bert, text, dupe_factor=dupe_factor)
        first = bert.tokenize("man came home. river came home.").tokens[1:-1]
        assert found.tokens[1 : 1 + len(first)] == tuple(first)
        assert found.num_masks == (dupe_factor or NUM_EPOCHS)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "no word"),
        (" \n ", {}, "no word"),
        (TEXT, {"masked_lm_prob": 1.0}, "masked_lm_prob"),
        (TEXT, {"dupe_factor": -1}, "dupe_factor"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    bert: Bert, text: str, options: dict[str, float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        epoch_masks(bert, text, **options)  # type: ignore[arg-type]
