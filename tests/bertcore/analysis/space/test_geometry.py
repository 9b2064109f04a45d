"""Geometry of vectors: sums over pairs, a manifold made by hand, ratios worked out by hand."""

import itertools

import numpy as np
import pytest

from bertcore.analysis.space.geometry import cosines, geometry

WORDS = ["a", "b", "a", "c", "b", "a", "d", "e", "b"]


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_cosines_equal_the_plain_sums_over_pairs() -> None:
    vectors = normal(2, 9, 5) + 1
    found = geometry(vectors, WORDS)
    for layer in range(2):
        units = vectors[layer] / np.linalg.norm(vectors[layer], axis=1, keepdims=True)
        pairs = list(itertools.combinations(range(9), 2))
        apart = [units[i] @ units[j] for i, j in pairs if WORDS[i] != WORDS[j]]
        assert found.any_pair[layer] == pytest.approx(np.mean(apart))
        # Ethayarajh 2019: the mean over a word's pairs, then over the words.
        of_words = [
            np.mean([units[i] @ units[j] for i, j in pairs if WORDS[i] == WORDS[j] == word])
            for word in "ab"
        ]
        assert found.same_word[layer] == pytest.approx(np.mean(of_words))
        assert found.corrected[layer] == pytest.approx(np.mean(of_words) - np.mean(apart))
    assert found.num_words == 2


def test_the_cosine_of_two_vectors_at_each_layer() -> None:
    first = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
    second = np.array([[4.0, 3.0], [-2.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    wanted = [24 / 25, -1, 0, np.nan, np.nan]
    np.testing.assert_allclose(cosines(first.astype("f4"), second.astype("f4")), wanted, rtol=1e-7)


def test_few_points_and_those_that_are_not_finite() -> None:
    one, two = (geometry(np.ones((2, count, 4)), list("ab"[:count])) for count in (1, 2))
    assert np.isnan([*one.same_word, *two.same_word, *one.any_pair]).all()
    assert two.any_pair == pytest.approx(1)
    vectors = normal(2, 30, 4)
    vectors[1, 5] = np.nan
    found = geometry(vectors, [str(i) for i in range(30)])
    assert found.num_points == 29
    assert np.isfinite(found.any_pair).all()
    with pytest.raises(ValueError, match="every vector holds NaN"):
        geometry(vectors[:, 5:6], ["x"])
