"""Geometry of vectors: sums over pairs, a manifold made by hand, ratios worked out by hand."""

import itertools

import numpy as np
import pytest

from bertcore.analysis.space.geometry import (
    MIN_POINTS,
    cosines,
    geometry,
    slope_of_ratios,
    two_nn,
    without_rogue,
)

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


def test_a_rogue_dimension_is_found_and_switched_off() -> None:
    vectors = normal(2, 200, 30)
    vectors[0, :, 7] += 12
    vectors[1, :, 3] -= 12
    words = [str(i % 50) for i in range(200)]
    found = geometry(vectors, words)
    assert found.rogue[:, 0].tolist() == [7, 3]
    assert (found.rogue_share[:, 0] > 0.95).all()
    assert (found.any_pair > 0.8).all()
    off = without_rogue(vectors, words, 1)
    assert (off[0, :, 7] == 0).all()
    assert (off[1, :, 3] == 0).all()
    np.testing.assert_allclose(np.delete(off[0], 7, 1), np.delete(vectors[0], 7, 1), rtol=1e-6)
    assert (np.abs(geometry(off, words).any_pair) < 0.05).all()
    np.testing.assert_array_equal(without_rogue(vectors, words, 0), vectors.astype("f4"))


def test_shares_of_the_mean_cosine_by_hand() -> None:
    # One pair of words, (3, 4) and (4, 3): the cosine 24/25 is 12/25 from each dimension.
    found = geometry(np.array([[[3.0, 4.0], [4.0, 3.0]]]), ["a", "b"])
    assert found.any_pair[0] == pytest.approx(24 / 25)
    assert found.rogue_share[0] == pytest.approx([0.5, 0.5])
    assert found.length[:, 0] == pytest.approx([5, 5, 5])


def test_lengths_are_percentiles() -> None:
    vectors = np.zeros((1, 11, 3))
    vectors[0, :, 1] = np.arange(11)
    assert geometry(vectors, ["x"] * 11).length[:, 0] == pytest.approx([1, 5, 9])


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_dimension_of_a_flat_cube_in_a_wide_space(dimension: int) -> None:
    rng = np.random.default_rng(3)
    cube = rng.uniform(size=(2000, dimension))
    turned = cube @ np.linalg.qr(rng.normal(size=(40, 40)))[0][:dimension] + 3
    assert two_nn(turned) == pytest.approx(dimension, rel=0.1)


def test_the_dimension_of_a_curved_sheet() -> None:
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(1.5, 5, 2000) * np.pi, rng.uniform(0, 30, 2000)
    roll = np.c_[angle * np.cos(angle), height, angle * np.sin(angle)]
    assert two_nn(roll) == pytest.approx(2, rel=0.1)


def test_the_slope_by_hand() -> None:
    # Ratios whose logarithm is -log(1 - i/10) / 2 lie on the line of dimension 2.
    ratios = np.exp(-np.log(1 - np.arange(1, 10) / 10) / 2)
    assert slope_of_ratios(np.append(ratios, 99)[::-1]) == pytest.approx(2)
    assert np.isnan(slope_of_ratios(np.ones(10)))


def test_duplicates_and_few_points_have_no_dimension() -> None:
    points = normal(MIN_POINTS - 1, 4)
    assert np.isnan(two_nn(np.repeat(points, 5, axis=0)))
    more = normal(100, 4)
    assert two_nn(np.repeat(more, 3, axis=0)) == two_nn(more)


@pytest.mark.parametrize("num_points", [1, 2, 3])
def test_few_points_and_constant_columns(num_points: int) -> None:
    found = geometry(np.ones((2, num_points, 4)), list("abc"[:num_points]))
    assert np.isnan(found.same_word).all()
    assert np.isnan(found.intrinsic_dimension).all()
    assert found.length == pytest.approx(2)
    if num_points == 1:
        assert np.isnan(found.any_pair).all()
    else:
        assert found.any_pair == pytest.approx(1)
        assert found.rogue_share == pytest.approx(0.25)


def test_points_that_are_not_finite_are_left_out() -> None:
    vectors = normal(2, 30, 4)
    vectors[1, 5] = np.nan
    found = geometry(vectors, [str(i) for i in range(30)])
    assert found.num_points == 29
    assert np.isfinite(found.any_pair).all()
    assert np.isnan(without_rogue(vectors, ["x", *"y" * 29], 1)[1, 5]).any()
    with pytest.raises(ValueError, match="every vector holds NaN"):
        geometry(vectors[:, 5:6], ["x"])
    with pytest.raises(ValueError, match="expected 0 to 5"):
        without_rogue(vectors, ["x"] * 30, 6)
