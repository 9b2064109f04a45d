"""Directions, probes and erasure: by hand, by their closed forms, and what a probe still finds."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression

from bertcore.bias import (
    Direction,
    equalise,
    find_direction,
    inlp,
    leace,
    neutralise,
    probe,
    project,
)
from bertcore.bias.erasure import Vectors

Labels = NDArray[np.int64]


@pytest.fixture(scope="module")
def labelled() -> tuple[Vectors, Labels]:
    """Vectors of two classes whose means differ in a few correlated dimensions."""
    generator = np.random.default_rng(0)
    labels = np.repeat([0, 1], 100)
    mixing = generator.normal(size=(12, 12))
    vectors = generator.normal(size=(200, 12)) @ mixing
    vectors[labels == 1] += generator.normal(size=12) * 5
    return vectors, labels


def test_the_direction_of_pairs_by_hand() -> None:
    base = np.array([[0.0, 5.0, 1.0], [0.0, -2.0, 3.0], [0.0, 1.0, 1.0]])
    step = np.array([[2.0, 0.0, 0.0]])
    found = find_direction(base + step, base - step)
    np.testing.assert_allclose(found.vector, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.explained[0], 1.0)
    turned = find_direction(base - step, base + step)
    np.testing.assert_allclose(turned.vector, [-1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(project(np.array([[3.0, 4.0, 0.0], [0, 0, 0]]), found), [0.6, 0.0])


@pytest.mark.parametrize("number", [0, 1])
def test_too_few_pairs_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match="two pairs"):
        find_direction(np.ones((number, 3)), np.zeros((number, 3)))


def test_equal_words_have_no_direction() -> None:
    with pytest.raises(ValueError, match="same vector"):
        find_direction(np.ones((2, 3)), np.ones((2, 3)))


def test_leace_leaves_no_cross_covariance(labelled: tuple[Vectors, Labels]) -> None:
    vectors, labels = labelled
    erased = leace(vectors, labels)(vectors)
    means = [erased[labels == name].mean(0) for name in (0, 1)]
    np.testing.assert_allclose(means[0], means[1], atol=1e-8)
    model = LogisticRegression(max_iter=1000).fit(erased, labels)
    assert model.score(erased, labels) == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(erased.mean(0), vectors.mean(0), atol=1e-8)


def test_leace_has_its_closed_form_and_is_least_squares(
    labelled: tuple[Vectors, Labels],
) -> None:
    """Theorem 4.3 for two classes: a rank-one oblique projection along the difference of means."""
    vectors, labels = labelled
    eraser = leace(vectors, labels)
    covariance = np.cov(vectors.T, bias=True)
    difference = vectors[labels == 1].mean(0) - vectors[labels == 0].mean(0)
    inverse = np.linalg.solve(covariance, difference)
    expected = np.outer(difference, inverse) / (difference @ inverse)
    np.testing.assert_allclose(eraser.matrix, expected, atol=1e-8)
    assert eraser.rank == 1
    # The orthogonal projection that takes the difference away moves the vectors farther.
    unit = difference / np.linalg.norm(difference)
    orthogonal = vectors - np.outer((vectors - vectors.mean(0)) @ unit, unit)
    moved = [((each - vectors) ** 2).sum() for each in (eraser(vectors), orthogonal)]
    assert moved[0] < moved[1]


def test_leace_of_vectors_in_a_subspace(labelled: tuple[Vectors, Labels]) -> None:
    vectors, labels = labelled
    flat = np.concatenate([vectors, vectors @ np.ones((12, 3))], axis=1)  # singular covariance
    erased = leace(flat, labels)(flat)
    np.testing.assert_allclose(erased[labels == 0].mean(0), erased[labels == 1].mean(0), atol=1e-7)


def test_inlp_projects_until_a_classifier_guesses(labelled: tuple[Vectors, Labels]) -> None:
    vectors, labels = labelled
    eraser = inlp(vectors, labels, num_rounds=12)
    np.testing.assert_allclose(eraser.matrix @ eraser.matrix, eraser.matrix, atol=1e-8)
    assert np.linalg.matrix_rank(eraser.matrix) == eraser.rank
    one = inlp(vectors, labels, num_rounds=1)
    assert one.rank == 1
    before, after = (
        LogisticRegression(max_iter=1000).fit(each, labels).score(each, labels)
        for each in (vectors, eraser(vectors))
    )
    assert before > 0.9
    assert after < before - 0.2


def test_a_probe_tells_classes_apart_until_they_are_erased(
    labelled: tuple[Vectors, Labels],
) -> None:
    vectors, labels = labelled
    found = probe(vectors, labels.tolist())
    assert found.accuracy > 0.9
    assert found.chance == 0.5
    assert probe(leace(vectors, labels)(vectors), labels.tolist()).accuracy < 0.65


def test_small_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="two classes"):
        probe(np.ones((6, 2)), [0, 0, 0, 0, 0, 1])
    for call in (leace, inlp):
        with pytest.raises(ValueError, match="one class"):
            call(np.ones((3, 2)), np.zeros(3))


def test_neutralised_vectors_lie_off_the_direction() -> None:
    direction = Direction(np.array([0.6, 0.8, 0.0]), np.ones(1))
    vectors = np.random.default_rng(0).normal(size=(5, 3))
    found = neutralise(vectors, direction)
    np.testing.assert_allclose(found @ direction.vector, 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(vectors, axis=1))


def test_equalised_pairs_are_as_far_from_every_neutral_word() -> None:
    generator = np.random.default_rng(0)
    direction = Direction(np.array([1.0, 0.0, 0.0]), np.ones(1))
    shift = np.array([4.0, 0.0, 0.0])
    first, second = (
        generator.normal(size=(4, 3)) + shift,
        generator.normal(size=(4, 3)) - shift,
    )
    one, other = equalise(first, second, direction)
    neutral = neutralise(generator.normal(size=(6, 3)), direction)
    np.testing.assert_allclose(one @ neutral.T, other @ neutral.T, atol=1e-12)
    lengths = (np.linalg.norm(first, axis=1) + np.linalg.norm(second, axis=1)) / 2
    for each in (one, other):
        np.testing.assert_allclose(np.linalg.norm(each, axis=1), lengths)
    assert (one[:, 0] > other[:, 0]).all()


def test_erasure_keeps_what_is_unrelated(labelled: tuple[Vectors, Labels]) -> None:
    vectors, labels = labelled
    unrelated = np.random.default_rng(5).normal(size=200)
    erased = leace(vectors, labels)(vectors)
    scores = [
        LinearRegression().fit(each, unrelated).score(each, unrelated) for each in (vectors, erased)
    ]
    assert abs(scores[0] - scores[1]) < 0.05
