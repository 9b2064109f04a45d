"""Directions, probes and erasure: by hand, by their closed forms, and in a checkpoint."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from bertcore import Bert, load
from bertcore.analysis.bias import (
    Direction,
    along_direction,
    debias_table,
    equalise,
    find_direction,
    gender_pairs,
    leace,
    measure_effects,
    neutralise,
    probe,
    project,
    word_vectors,
)
from bertcore.analysis.bias.associations import Vectors
from tests.support.tiny import tiny_bert

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
    with pytest.raises(ValueError, match="same vector"):
        find_direction(np.ones((2, 3)), np.ones((2, 3)))


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
    np.testing.assert_allclose(erased.mean(0), flat.mean(0), atol=1e-8)
    with pytest.raises(ValueError, match="all vectors have one class"):
        leace(np.ones((3, 2)), np.zeros(3))


def test_a_probe_tells_classes_apart_until_they_are_erased(
    labelled: tuple[Vectors, Labels],
) -> None:
    vectors, labels = labelled
    found = probe(vectors, labels.tolist())
    assert found.accuracy > 0.9
    assert found.chance == 0.5
    assert probe(leace(vectors, labels)(vectors), labels.tolist()).accuracy < 0.65


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


@pytest.fixture(scope="module")
def changed(bert: Bert) -> Bert:
    return debias_table(bert)


def test_occupations_lie_where_the_direction_says(bert: Bert) -> None:
    pairs = gender_pairs("direction")
    for layer in (None, 2):
        found = along_direction(bert, layer=layer)
        sides = [word_vectors(bert, side, layer) for side in zip(*pairs, strict=True)]
        expected = project(word_vectors(bert, found.words, layer), find_direction(*sides))
        np.testing.assert_allclose(found.cosines, expected, atol=1e-6)
        assert list(found.probes) == ["as it is", "neutralised", "LEACE"]


def test_neutral_words_lie_off_the_direction(bert: Bert, changed: Bert) -> None:
    sides = zip(*gender_pairs("direction"), strict=True)
    direction = find_direction(*(word_vectors(bert, side) for side in sides))
    before, after = (word_vectors(each, ["river", "good", "paris"]) for each in (bert, changed))
    np.testing.assert_allclose(project(after, direction), 0, atol=1e-6)
    lengths = (np.linalg.norm(each, axis=1) for each in (after, before))
    np.testing.assert_allclose(*lengths, rtol=1e-5)


def test_pairs_are_as_far_from_every_neutral_word(changed: Bert) -> None:
    neutral = word_vectors(changed, ["river", "good", "paris"])
    she, he = word_vectors(changed, ["she", "he"])
    np.testing.assert_allclose(neutral @ she, neutral @ he, atol=1e-5)


def test_only_the_table_of_a_copy_is_changed(bert: Bert, changed: Bert, tmp_path: Path) -> None:
    assert torch.equal(bert.module.token_table, tiny_bert().module.token_table)
    opened = load(changed.save(tmp_path / "debiased"), device="cpu")
    text = "the [MASK] sat on the mat"
    assert opened.fill_mask(text) == changed.fill_mask(text) != bert.fill_mask(text)
    others = dict(changed.module.named_parameters())
    for name, weight in bert.module.named_parameters():
        assert torch.equal(weight, others[name]) == ("word_embeddings" not in name)


def test_effects_are_those_of_both_checkpoints(bert: Bert, changed: Bert) -> None:
    stages: list[str] = []
    effects = measure_effects(bert, changed, progress=lambda done, name: stages.append(name))
    assert [effect.name for effect in effects] == stages
    assert len(effects) == 6
    for effect, side in ((effects[0].before, bert), (effects[0].after, changed)):
        expected = np.abs(along_direction(side).cosines).mean()
        assert effect.mean == pytest.approx(expected, abs=1e-6)
    first = effects[0].row()
    assert (first["measure"], first["unit"]) == (stages[0], "cosine")
    assert first["before_low"] <= first["before"] <= first["before_high"]
