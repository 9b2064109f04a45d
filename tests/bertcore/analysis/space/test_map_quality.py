"""Honesty of maps and separation of groups, on points whose answer is known."""

import numpy as np
import pytest

from bertcore.analysis.space.map_quality import MAX_POINTS, map_faithfulness, separation


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_a_map_that_loses_nothing_and_one_that_is_made_up() -> None:
    plane = normal(1, 80, 2)
    vectors = plane @ np.linalg.qr(normal(6, 6))[0][:2]
    perfect = map_faithfulness(vectors, plane, metric="euclidean")
    assert perfect.trustworthiness[0] == pytest.approx(1)
    assert perfect.overlap[0] == pytest.approx(1)
    assert (perfect.k, perfect.num_points) == (10, 80)
    made_up = map_faithfulness(vectors, normal(1, 80, 2, seed=5), metric="euclidean")
    assert made_up.trustworthiness[0] == pytest.approx(0.5, abs=0.08)
    assert made_up.overlap[0] == pytest.approx(10 / 79, abs=0.06)
    assert perfect.continuity[0] == 1
    assert made_up.continuity[0] == pytest.approx(0.5, abs=0.08)


@pytest.mark.parity
@pytest.mark.parametrize(("num_points", "k"), [(30, 5), (80, 10), (7, 2)])
def test_continuity_is_trustworthiness_of_the_way_back(num_points: int, k: int) -> None:
    manifold = pytest.importorskip("sklearn.manifold")
    vectors, coordinates = normal(2, num_points, 6), normal(2, num_points, 2, seed=1)
    found = map_faithfulness(vectors, coordinates, k=k, metric="euclidean")
    for layer in range(2):
        there = manifold.trustworthiness(vectors[layer], coordinates[layer], n_neighbors=k)
        back = manifold.trustworthiness(coordinates[layer], vectors[layer], n_neighbors=k)
        assert found.trustworthiness[layer] == pytest.approx(there)
        assert found.continuity[layer] == pytest.approx(back)


def test_overlap_by_hand() -> None:
    vectors = np.array([[[0.0], [1], [3], [7], [15]]])
    coordinates = np.array([[[0.0, 0], [1, 0], [3, 0], [1.5, 0], [15, 0]]])
    # Nearest of 0, 1, 3, 7, 15 is 1, 0, 1, 3, 7; in the map point 3 (7) sits between 1 and 3.
    found = map_faithfulness(vectors, coordinates, k=1, metric="euclidean")
    assert found.overlap[0] == pytest.approx(1 / 5)


@pytest.mark.parametrize("num_points", [1, 2, 3, 4, 5, 30])
def test_few_points_have_a_small_neighbourhood_or_no_quality(num_points: int) -> None:
    found = map_faithfulness(normal(2, num_points, 4), normal(2, num_points, 2))
    assert found.k == (0 if num_points < 3 else min(10, (num_points - 1) // 2))
    for measure in (found.trustworthiness, found.continuity, found.overlap):
        if num_points < 3:
            assert np.isnan(measure).all()
        else:
            assert ((measure >= 0) & (measure <= 1)).all()


def test_copies_are_left_out_so_that_ties_make_no_quality() -> None:
    vectors, coordinates = normal(2, 30, 8), normal(2, 30, 2)
    alone = map_faithfulness(vectors[:, :11], coordinates[:, :11], k=5)
    vectors[:, 11:] = vectors[:, :1] * (1 + 1e-7)  # rounding
    coordinates[:, 11:] = coordinates[:, :1]
    found = map_faithfulness(vectors, coordinates, k=5)
    assert found.num_copies.tolist() == [19, 19]
    assert (found.k, found.num_points) == (5, 30)
    np.testing.assert_allclose(found.trustworthiness, alone.trustworthiness)
    np.testing.assert_allclose(found.continuity, alone.continuity)
    np.testing.assert_allclose(found.overlap, alone.overlap)


def test_layers_of_equal_rows_have_no_quality() -> None:
    equal = map_faithfulness(np.ones((2, 30, 8)), np.zeros((2, 30, 2)))
    assert equal.k == 0
    assert equal.num_copies.tolist() == [29, 29]
    assert np.isnan(equal.trustworthiness).all()
    vectors = normal(2, 30, 8)
    vectors[0] = vectors[0, 0]  # layer 0 of one word, without positions
    found = map_faithfulness(vectors, normal(2, 30, 2))
    assert found.k == 10
    assert np.isnan(found.overlap).tolist() == [True, False]


def test_copies_in_other_groups_are_counted_where_labels_separate() -> None:
    vectors = normal(1, 20, 8)
    vectors[:, 1:5] = vectors[:, :1]
    found = separation(vectors, ["a", "b"] * 10)
    assert found.num_copies.tolist() == [5]
    groups = np.array([0] * 5 + [*range(1, 16)])
    within = separation(vectors, ["a"] * 10 + ["b"] * 10, groups=groups)
    assert within.num_copies.tolist() == [0]


def test_many_points_are_sampled_and_counted() -> None:
    vectors = normal(1, MAX_POINTS + 50, 3)
    found = map_faithfulness(vectors, vectors[..., :2])
    assert found.num_points == MAX_POINTS
    again = map_faithfulness(vectors, vectors[..., :2])
    assert found.overlap == again.overlap


def test_points_with_nan_are_left_out() -> None:
    vectors, coordinates = normal(2, 30, 4), normal(2, 30, 2)
    vectors[1, 5], coordinates[:, 5] = np.nan, np.nan
    assert map_faithfulness(vectors, coordinates).num_points == 29
    labels = ["a", "b"] * 15
    found = separation(vectors, labels)
    assert found.num_points == 29


def test_groups_that_part_layer_by_layer() -> None:
    noise, apart = normal(1, 40, 8), np.zeros((40, 8))
    apart[:20, 0], apart[20:, 1] = 30, 30
    labels = ["river"] * 20 + ["money"] * 20
    found = separation(np.concatenate([noise, noise + apart]), labels)
    assert found.silhouette[0] == pytest.approx(0, abs=0.1)
    assert found.silhouette[1] > 0.8
    assert found.purity[0] == pytest.approx(0.5, abs=0.15)
    assert found.purity[1] == 1
    assert found.chance == pytest.approx(19 / 39)


@pytest.mark.parity
def test_silhouette_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    vectors = normal(2, 30, 6) + 0.5
    labels = ["a"] * 12 + ["b"] * 11 + ["c"] * 7
    found = separation(vectors, labels)
    assert found is not None
    for layer in range(2):
        expected = metrics.silhouette_score(vectors[layer], labels, metric="cosine")
        assert found.silhouette[layer] == pytest.approx(expected)


def test_points_of_one_group_are_not_compared() -> None:
    # Eight sentences of five tokens each; a token is like its sentence and nothing else.
    sentences = np.repeat(np.arange(8), 5)
    vectors = (normal(8, 16) * 10)[sentences][None] + normal(1, 40, 16, seed=1) * 0.1
    labels = [("a", "b")[i % 2] for i in sentences]
    fooled = separation(vectors, labels, k=4)
    honest = separation(vectors, labels, k=4, groups=sentences)
    assert fooled.purity[0] == 1
    assert honest.purity[0] < 0.8
    assert honest.silhouette[0] < fooled.silhouette[0]
    assert honest.chance == pytest.approx(15 / 35)
    assert separation(vectors[:, :10], labels[:10], groups=sentences[:10]) is None


def test_separation_needs_two_labels_with_two_points() -> None:
    vectors = normal(2, 5, 4)
    assert separation(vectors, [""] * 5) is None
    assert separation(vectors, ["a"] * 5) is None
    assert separation(vectors, ["a", "a", "b", "c", ""]) is None
    found = separation(vectors, ["a", "a", "b", "b", "c"])
    assert (found.num_points, found.k) == (4, 1)
