"""ELECTRA: labels follow from the ids, a lucky guess is no replacement, samples follow logits."""

import numpy as np
import pytest
from scipy.stats import chisquare

from bertcore.objectives import IGNORED, hide_for_generator, replace, sample
from tests.bertcore.objectives.rows import PIECES, row_of


def test_labels_are_where_a_guess_is_wrong() -> None:
    row, rng = row_of(60), np.random.default_rng(1)
    hidden = hide_for_generator(row, PIECES, rng)
    places = np.flatnonzero(hidden.labels != IGNORED)
    assert (hidden.input_ids[places] == PIECES.mask_id).all()
    guesses = row.ids[places].copy()
    guesses[::2] = (guesses[::2] + 1) % PIECES.size
    found = replace(row, hidden, guesses)
    assert set(np.flatnonzero(found.is_replaced)) == set(places[::2])
    assert PIECES.mask_id not in found.input_ids
    untouched = np.setdiff1d(np.arange(60), places[::2])
    np.testing.assert_array_equal(found.input_ids[untouched], row.ids[untouched])


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_samples_follow_the_softmax(temperature: float) -> None:
    logits = np.array([2.0, 1.0, 0.0, -1.0])
    drawn = sample(np.tile(logits, (4000, 1)), np.random.default_rng(2), temperature=temperature)
    p = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    assert chisquare(np.bincount(drawn, minlength=4), 4000 * p).pvalue > 1e-4
