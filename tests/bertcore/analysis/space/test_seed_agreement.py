"""Two maps of the same points, against scipy's Procrustes and worked out by hand."""

import numpy as np
import pytest
from scipy.spatial import procrustes

from bertcore.analysis.space.map_quality import seed_agreement
from bertcore.analysis.space.projection import LayerMap


def map_of(coordinates: np.ndarray, space: str = "joint") -> LayerMap:
    shape = coordinates.shape
    unknown = np.full((shape[0], shape[2]), np.nan)
    return LayerMap(coordinates.astype("f4"), unknown, "umap", space, ())


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def turned(places: np.ndarray, seed: int = 0) -> np.ndarray:
    turn, _ = np.linalg.qr(normal(places.shape[-1], places.shape[-1], seed=seed))
    return places @ turn + 5


@pytest.mark.parametrize("dims", [2, 3])
def test_a_turned_mirrored_and_shifted_map_is_the_same(dims: int) -> None:
    places = normal(3, 40, dims)
    whole = turned(places)
    found = seed_agreement(map_of(places), map_of(whole))
    np.testing.assert_allclose(found.second, places, atol=1e-5)
    np.testing.assert_allclose(found.moved, 0, atol=1e-5)
    np.testing.assert_allclose(found.kept, 1)
    by_layer = np.stack([turned(place, seed) for seed, place in enumerate(places)])
    apart = seed_agreement(map_of(places, "separate"), map_of(by_layer, "separate"))
    np.testing.assert_allclose(apart.moved, 0, atol=1e-5)
    assert seed_agreement(map_of(places), map_of(by_layer)).moved.mean() > 0.1


@pytest.mark.parity
def test_the_turn_is_that_of_scipy() -> None:
    one, two = normal(50, 2), normal(50, 2, seed=1)
    one, two = (each / np.sqrt(((each - each.mean(0)) ** 2).sum()) for each in (one, two))
    first, second, _ = procrustes(one, two)  # scales both to 1, and the second once more
    found = seed_agreement(map_of(one[None], "separate"), map_of(two[None], "separate"))
    laid = found.second[0] - found.second[0].mean(0)
    scale = np.sqrt((second**2).sum())
    np.testing.assert_allclose(laid, second / scale, atol=1e-5)
    expected = np.linalg.norm(second / scale - first, axis=1) * np.sqrt(50)
    np.testing.assert_allclose(found.moved[0], expected, rtol=1e-4)


def test_one_point_that_moves_by_hand() -> None:
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]] * 10)
    other = square.copy()
    other[0] = [-1, 1]
    found = seed_agreement(map_of(square[None]), map_of(other[None]))
    assert found.moved[0, 0] == pytest.approx(2 / np.sqrt(2), rel=0.06)  # the radius is sqrt 2
    assert (found.moved[0, 1:] < 0.1).all()


def test_unrelated_maps_share_what_chance_gives() -> None:
    found = seed_agreement(map_of(normal(1, 300, 2)), map_of(normal(1, 300, 2, seed=9)))
    assert found.chance == pytest.approx(10 / 299)
    assert found.kept[0] == pytest.approx(found.chance, abs=0.02)
    assert np.sqrt((found.moved**2).mean()) == pytest.approx(np.sqrt(2), rel=0.1)


def test_points_without_a_place_and_too_few_points() -> None:
    places = normal(2, 30, 2)
    places[:, 4] = np.nan
    found = seed_agreement(map_of(places), map_of(turned(places)))
    assert np.isnan(found.moved[:, 4]).all()
    assert np.isnan(found.second[:, 4]).all()
    assert np.nanmax(found.moved) < 1e-4
    for num_points in (1, 2):
        few = seed_agreement(map_of(normal(2, num_points, 2)), map_of(normal(2, num_points, 2)))
        assert few.k == 0
        assert np.isnan(few.kept).all()
    with pytest.raises(ValueError, match="expected two maps of the same points"):
        seed_agreement(map_of(normal(1, 5, 2)), map_of(normal(1, 6, 2)))


def test_points_that_share_their_place_in_both_maps_count_once() -> None:
    places, others = normal(2, 30, 2), normal(2, 30, 2, seed=1)
    few = seed_agreement(map_of(places[:, :11]), map_of(others[:, :11]), k=5)
    places[:, 11:], others[:, 11:] = places[:, :1], others[:, :1]
    found = seed_agreement(map_of(places), map_of(others), k=5)
    assert (found.k, found.chance) == (few.k, few.chance)
    assert seed_agreement(map_of(places * 0), map_of(others * 0)).k == 0
