"""Maps: PCA against scikit-learn, UMAP with a seed, few points, NaN, alignment, progress."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from tqdm.auto import tqdm

from bertcore.analysis.space import projection
from bertcore.analysis.space.projection import MIN_EMBEDDED, align, embed, map_layers, pca
from bertcore.configs.maps import METRICS, TsneSettings, UmapSettings

QUICK = UmapSettings(n_neighbors=5, seed=3)


def cloud(*shape: int, seed: int = 0) -> np.ndarray:
    """Points with a few directions that stand out, as BERT's have."""
    rng = np.random.default_rng(seed)
    scales = np.geomspace(10, 0.1, shape[-1])
    return (rng.normal(size=shape) * scales + 5).astype(np.float32)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (12, 12), (5, 64), (300, 6)])
@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parity
def test_pca_is_that_of_scikit_learn(shape: tuple[int, int], dims: int) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    points = cloud(*shape)
    reference = decomposition.PCA(dims, svd_solver="full")
    expected = reference.fit_transform(points.astype(np.float64))
    ours = pca(points, dims)
    np.testing.assert_allclose(ours.transform(points), expected, atol=1e-4)
    np.testing.assert_allclose(ours.components, reference.components_, atol=1e-5)
    np.testing.assert_allclose(ours.explained, reference.explained_variance_ratio_, atol=1e-6)


@pytest.mark.parametrize("num_points", [1, 2, 3, 4])
@pytest.mark.parametrize("method", ["pca", "umap"])
@pytest.mark.parametrize("space", ["joint", "separate"])
@pytest.mark.parametrize("dims", [2, 3])
def test_few_points_have_a_map(num_points: int, method: str, space: str, dims: int) -> None:
    # One layer in the joint space, so that there are few points there too.
    vectors = cloud(1 if space == "joint" else 3, num_points, 8)
    found = map_layers(vectors, dims=dims, method=method, space=space)
    assert found.coordinates.shape == (len(vectors), num_points, dims)
    assert np.isfinite(found.coordinates).all()
    assert found.method == "pca"
    assert any("UMAP needs" in note for note in found.notes) == (method == "umap")
    if num_points == 1:
        assert (found.coordinates == 0).all()
        assert (found.explained == 0).all()
    elif num_points <= dims + 1:  # so few points lie in one plane: nothing can be lost
        np.testing.assert_allclose(found.explained.sum(1), 1, atol=1e-5)


@pytest.mark.parametrize("method", ["pca", "umap"])
def test_identical_points_lie_on_one_place(method: str) -> None:
    vectors = np.broadcast_to(cloud(3, 1, 8), (3, 30, 8))
    for space in ("separate", "joint"):
        found = map_layers(vectors, method=method, space=space, settings=QUICK)
        assert np.abs(found.coordinates).max() < 1e-4
        assert found.method == "pca"


def test_points_with_nan_are_left_out_and_it_is_said() -> None:
    vectors = cloud(3, 20, 8)
    clean = map_layers(np.delete(vectors, [4, 9], axis=1))
    vectors[1, 4, 2], vectors[2, 9, 0] = np.nan, np.inf
    found = map_layers(vectors)
    assert np.isnan(found.coordinates[:, [4, 9]]).all()
    np.testing.assert_allclose(np.delete(found.coordinates, [4, 9], axis=1), clean.coordinates)
    assert "2 of 20 points are not drawn" in found.notes[0]
    with pytest.raises(ValueError, match="every vector holds NaN"):
        map_layers(np.full((3, 5, 8), np.nan))
    with pytest.raises(ValueError, match="NaN"):
        pca(np.full((5, 8), np.nan), 2)


def test_a_joint_map_has_one_plane_for_all_layers() -> None:
    vectors = cloud(4, 30, 10)
    centred = vectors - vectors.mean(1, keepdims=True)
    even = centred / np.sqrt((centred**2).sum(-1).mean(1))[:, None, None]
    plane = pca(even.reshape(-1, 10), 2)
    found = map_layers(vectors)
    np.testing.assert_allclose(found.coordinates, plane.transform(even), atol=1e-4)
    np.testing.assert_allclose(found.coordinates.mean(1), 0, atol=1e-4)
    moved = vectors * np.array([1, 5, 0.2, 9])[:, None, None] + 50 * np.arange(4)[:, None, None]
    np.testing.assert_allclose(map_layers(moved).coordinates, found.coordinates, atol=1e-3)


def test_a_joint_map_may_show_how_the_layers_drift() -> None:
    vectors = cloud(4, 30, 10) + 50 * np.arange(4)[:, None, None]
    drift = map_layers(vectors, level_layers=False)
    plane = pca(vectors.reshape(-1, 10), 2)
    np.testing.assert_allclose(drift.coordinates, plane.transform(vectors), atol=1e-3)
    steps = np.diff(drift.coordinates.mean(1), axis=0)
    assert (np.linalg.norm(steps, axis=1) > 100).all()  # 50 x sqrt(10) along the first axis


def test_separate_maps_keep_each_layers_distances_and_turn_to_the_last() -> None:
    vectors = cloud(3, 25, 10)
    vectors[1] = vectors[0] @ np.linalg.qr(cloud(10, 10, seed=4))[0]  # the same, turned in D
    vectors[2] = -vectors[0]
    found = map_layers(vectors, space="separate").coordinates
    np.testing.assert_allclose(found[1], found[0], atol=1e-3)
    np.testing.assert_allclose(found[2], found[0], atol=1e-3)
    alone = pca(vectors[2], 2).transform(vectors[2])
    gaps = np.linalg.norm(alone[:, None] - alone[None], axis=-1)
    np.testing.assert_allclose(
        np.linalg.norm(found[2][:, None] - found[2][None], axis=-1), gaps, atol=1e-3
    )


def test_align_undoes_a_turn_and_a_mirror() -> None:
    target = cloud(20, 2) - 5
    angle = 1.0
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for change in (turn, turn @ np.diag([1, -1])):
        aligned = align(target @ change + 7, target)
        np.testing.assert_allclose(aligned, target - target.mean(0), atol=1e-4)
    with_zeros = align(np.zeros((4, 2)), target[:4])
    assert (with_zeros == 0).all()


def test_explained_is_each_layers_own_share() -> None:
    vectors = cloud(3, 40, 6)
    found = map_layers(vectors, dims=3, space="separate")
    for layer in range(3):
        expected = pca(vectors[layer], 3).explained.sum()
        assert found.explained[layer].sum() == pytest.approx(expected, abs=1e-5)
    assert (map_layers(vectors).explained.sum(1) <= found.explained.sum(1) + 1e-6).all()


@pytest.mark.slow  # opening UMAP compiles its kernels
def test_umap_is_fixed_by_its_seed_and_tells_its_progress() -> None:
    vectors = cloud(2, 20, 8)
    vectors[:, 7] = vectors[:, 3]
    heard: list[tuple[float, str]] = []
    first = map_layers(
        vectors, method="umap", settings=QUICK, progress=lambda *told: heard.append(told)
    )
    again = map_layers(vectors, method="umap", settings=QUICK)
    other = map_layers(vectors, method="umap", settings=UmapSettings(n_neighbors=5, seed=4))
    assert first.method == "umap"
    assert first.notes == ()
    assert (first.coordinates == again.coordinates).all()
    assert not np.allclose(first.coordinates, other.coordinates)
    assert (first.coordinates[:, 7] == first.coordinates[:, 3]).all()
    assert np.isnan(first.explained).all()
    shares = [share for share, _ in heard]
    assert all(a <= b for a, b in itertools.pairwise(shares))
    assert shares[0] < 0.1
    assert shares[-1] == 1
    assert "Laying out the points" in {stage for _, stage in heard}

    apart = map_layers(vectors, method="umap", space="separate", dims=3, settings=QUICK)
    assert apart.coordinates.shape == (2, 20, 3)
    assert np.isfinite(apart.coordinates).all()


@pytest.mark.slow
def test_a_map_that_is_given_up_leaves_the_progress_bars_of_others_free() -> None:
    def give_up(fraction: float, stage: str) -> None:
        if stage == "Laying out the points":
            raise InterruptedError(stage)

    with ThreadPoolExecutor(1) as pool:  # the lock belongs to a thread
        fit = pool.submit(
            map_layers, cloud(2, 20, 8), method="umap", settings=QUICK, progress=give_up
        )
        with pytest.raises(InterruptedError):
            fit.result()
        lock = tqdm.get_lock()
        assert all(part.acquire(timeout=1) for part in lock.locks)
        lock.release()


@pytest.mark.slow
def test_umap_parts_what_is_apart_and_takes_its_parameters() -> None:
    points = np.concatenate([cloud(15, 8), cloud(15, 8, seed=1) + 200])
    found = embed(points, 2, UmapSettings(n_neighbors=5, metric="euclidean"))
    gaps = np.linalg.norm(found[:, None] - found[None], axis=-1)
    assert gaps[:15, :15].max() < gaps[:15, 15:].min()
    loose = embed(points, 2, UmapSettings(n_neighbors=5, metric="euclidean", min_dist=1.0))
    nearest = [np.sort(np.linalg.norm(m[:, None] - m[None], axis=-1))[:, 1].mean()
               for m in (found, loose)]  # fmt: skip
    assert nearest[1] > nearest[0]
    # More neighbours than there are points: lowered, not refused.
    assert np.isfinite(embed(points[:MIN_EMBEDDED], 2, UmapSettings(n_neighbors=50))).all()


@pytest.mark.slow  # opening UMAP compiles its kernels
def test_umap_measures_all_pairs_at_once_as_one_by_one() -> None:
    distances, (points, others) = pytest.importorskip("umap.distances"), (cloud(12, 6), cloud(5, 6))
    points[3] = 0  # has no direction
    for name in METRICS:
        by_umap = getattr(distances, name)
        for second in (None, others):
            asked = pairwise_distances(points, second, metric=by_umap)
            found = projection._pairwise_distances(points, second, metric=by_umap)
            np.testing.assert_allclose(found, asked, atol=3e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: map_layers(cloud(2, 5, 4), dims=4), "dims is 4; expected 2 or 3"),
        (lambda: map_layers(cloud(2, 5, 4), method="isomap"), "'isomap'; expected one of pca"),
        (lambda: map_layers(cloud(2, 5, 4), space="one"), "'one'; expected one of joint"),
        (lambda: map_layers(np.zeros((3, 0, 4))), "vectors have shape"),
        (lambda: embed(cloud(7, 4), 2, QUICK), "there are 7 distinct points; UMAP needs 8"),
        (lambda: map_layers(cloud(1, 21, 4), method="umap"), "there are 21 points; the limit"),
        (lambda: embed(cloud(20, 4), 2, TsneSettings()), "perplexity .* must be less than"),
        (lambda: UmapSettings(n_neighbors=1), "n_neighbors"),
        (lambda: UmapSettings(min_dist=1.5), "min_dist"),
        (lambda: UmapSettings(metric="hamming"), "metric"),
        (lambda: UmapSettings(seed=-1), "seed"),
        (lambda: TsneSettings(perplexity=1), "perplexity"),
    ],
)
def test_what_cannot_be_mapped_is_a_sentence(
    call: Callable[[], object], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "MAX_EMBEDDED", 20)
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parity
def test_tsne_is_that_of_scikit_learn() -> None:
    """From the start that scikit-learn makes by PCA; equal vectors share a place."""
    manifold = pytest.importorskip("sklearn.manifold")
    points = cloud(60, 12)
    settings = TsneSettings(perplexity=8.0, metric="euclidean", seed=4)
    ours = embed(np.concatenate([points, points[:3]]), 2, settings)
    distinct, places = np.unique(points, axis=0, return_inverse=True)
    reference = manifold.TSNE(2, perplexity=8.0, init="pca", random_state=4, metric="euclidean")
    expected = reference.fit_transform(distinct)[places.reshape(-1)]
    assert manifold.trustworthiness(points, ours[:60], n_neighbors=5) == pytest.approx(
        manifold.trustworthiness(points, expected, n_neighbors=5), abs=0.03
    )
    np.testing.assert_array_equal(ours[60:], ours[:3])
