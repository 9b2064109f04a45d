"""t-SNE and PaCMAP against their libraries; few points, duplicates, progress, what is missing."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
import torch
from openTSNE import TSNE, initialization
from pacmap import PaCMAP
from scipy.spatial.distance import cdist

from bertcore.analysis.space.map_quality import faithfulness, seed_agreement
from bertcore.analysis.space.neighbour_embedding import (
    EXAGGERATED_STEPS,
    Embedding,
    fit_pacmap,
    fit_tsne,
    numba_lock,
    prepared,
)
from bertcore.analysis.space.projection import (
    MIN_EMBEDDED,
    align,
    embed,
    fit,
    map_layers,
    pca,
)
from bertcore.configs.maps import METRICS, PacmapSettings, TsneSettings

QUICK = TsneSettings(perplexity=5, n_iter=150)
OF_METHOD = {"tsne": {"tsne": QUICK}, "pacmap": {"pacmap": PacmapSettings()}}
BOTH = (QUICK, PacmapSettings())


def cloud(*shape: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * np.geomspace(10, 0.1, shape[-1])).astype(np.float32)


def groups(num: int = 4, each: int = 20) -> np.ndarray:
    """Points in groups that are equally far apart, [num * each, 10]."""
    return np.repeat(np.eye(num, 10) * 50, each, axis=0).astype(np.float32) + cloud(num * each, 10)


def silent(fraction: float, stage: str) -> None:
    """Take a report."""


@pytest.mark.skipif("OMP_NUM_THREADS" not in os.environ, reason="torch takes all cores")
def test_numba_leaves_torch_its_threads() -> None:
    """Otherwise each test that trains would take ten times as long in all that runs beside it."""
    assert torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"])


@pytest.mark.parity
@pytest.mark.parametrize(("dims", "metric"), [(2, "euclidean"), (3, "euclidean"), (2, "manhattan")])
def test_tsne_is_that_of_opentsne(dims: int, metric: str) -> None:
    points, more = cloud(120, 12), cloud(9, 12, seed=1)
    start = pca(points, dims).transform(points)
    ours = fit_tsne(
        points,
        start,
        TsneSettings(
            perplexity=9,
            early_exaggeration=8,
            learning_rate=150,
            n_iter=70,
            metric=metric,
            seed=3,
        ),
        progress=silent,
    )
    begin = initialization.jitter(initialization.rescale(start.astype(float)), random_state=3)
    theirs = TSNE(
        n_components=dims,
        perplexity=9,
        early_exaggeration=8,
        learning_rate=150,
        n_iter=70,
        metric=metric,
        initialization=begin,
        negative_gradient_method="bh",
        random_state=3,
    ).fit(points)
    np.testing.assert_array_equal(ours.coordinates, np.asarray(theirs, dtype=np.float32))
    if dims == 2:
        theirs.gradient_descent_params["negative_gradient_method"] = "fft"
    placed = np.asarray(theirs.transform(more), dtype=np.float32)
    np.testing.assert_array_equal(ours.transform(more), placed)


@pytest.mark.parity
def test_random_initialization_is_that_of_opentsne() -> None:
    points = cloud(80, 12)
    settings = TsneSettings(
        perplexity=9, n_iter=50, metric="euclidean", seed=3, initialization="random"
    )
    theirs = TSNE(perplexity=9, n_iter=50, initialization="random", random_state=3).fit(points)
    ours = fit_tsne(points, np.zeros((80, 2), np.float32), settings, progress=silent)
    np.testing.assert_array_equal(ours.coordinates, np.asarray(theirs, dtype=np.float32))


@pytest.mark.parity
@pytest.mark.slow  # opening PaCMAP compiles its kernels
@pytest.mark.parametrize(("width", "metric"), [(12, "euclidean"), (130, "manhattan")])
def test_pacmap_is_that_of_pacmap(width: int, metric: str) -> None:
    points, more = cloud(150, width), cloud(9, width, seed=1)
    start = pca(points, 2).transform(points)
    settings = PacmapSettings(n_neighbors=7, MN_ratio=1, FP_ratio=3, metric=metric, seed=3)
    ours = fit_pacmap(points, start, settings, progress=silent)
    theirs = PaCMAP(
        n_neighbors=7, MN_ratio=1, FP_ratio=3, distance=metric, random_state=3, save_tree=True
    )
    np.testing.assert_array_equal(ours.coordinates, theirs.fit_transform(points, init=start))
    np.testing.assert_array_equal(ours.transform(more), theirs.transform(more))


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_prepared_vectors_lie_a_chord_apart(metric: str) -> None:
    points = cloud(20, 6)
    chord = np.sqrt(2 * cdist(points, points, metric))
    np.testing.assert_allclose(
        cdist(prepared(points, metric), prepared(points, metric)), chord, atol=2e-3
    )
    assert (prepared(np.zeros((1, 6)), metric) == 0).all()
    np.testing.assert_array_equal(prepared(points, "manhattan"), points)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tsne", "pacmap"])
@pytest.mark.parametrize("dims", [2, 3])
def test_a_seed_fixes_the_map_and_its_progress_rises(method: str, dims: int) -> None:
    vectors = cloud(2, 30, 8)
    vectors[:, 7] = vectors[:, 3]
    vectors[:, 11] = vectors.mean(1)  # of length 0 when the layers are levelled
    heard: list[tuple[float, str]] = []
    found = map_layers(
        vectors,
        dims=dims,
        method=method,
        progress=lambda *report: heard.append(report),
        **OF_METHOD[method],
    )
    again = map_layers(vectors, dims=dims, method=method, **OF_METHOD[method])
    assert (found.method, found.notes, found.coordinates.shape) == (method, (), (2, 30, dims))
    assert np.isfinite(found.coordinates).all()
    assert np.isnan(found.explained).all()
    np.testing.assert_array_equal(found.coordinates, again.coordinates)
    np.testing.assert_array_equal(found.coordinates[:, 7], found.coordinates[:, 3])
    fractions = [fraction for fraction, _ in heard]
    assert all(a <= b for a, b in itertools.pairwise(fractions))
    assert fractions[-1] == 1
    assert len({fraction for fraction, stage in heard if "Laying out" in stage}) > 20


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tsne", "pacmap"])
def test_a_second_seed_can_be_compared(method: str) -> None:
    vectors = np.stack([groups(), groups()[:, ::-1] * 2])
    kind = type(next(iter(OF_METHOD[method].values())))
    maps = [map_layers(vectors, method=method, **{method: kind(seed=seed)}) for seed in (0, 1)]
    assert not np.allclose(maps[0].coordinates, maps[1].coordinates)
    agreement = seed_agreement(*maps)
    assert agreement.kept.mean() > 4 * agreement.chance
    measured = faithfulness(vectors, maps[0].coordinates)
    assert (measured.trustworthiness > 0.8).all()
    assert (measured.continuity > 0.8).all()
    assert (measured.overlap > 2 * 10 / 79).all()


@pytest.mark.slow
@pytest.mark.parametrize("settings", BOTH)
def test_each_later_vector_is_placed_by_itself_and_among_its_group(
    settings: TsneSettings | PacmapSettings,
) -> None:
    points = groups()
    fitted = fit(points, 2, settings)
    later = (points[::10] + 0.01).astype(np.float32)
    together = fitted.transform(later)
    alone = np.concatenate([fitted.transform(later[:1]), fitted.transform(later[1:])])
    np.testing.assert_allclose(together, alone, atol=1e-4)
    centres = fitted.coordinates.reshape(4, 20, 2).mean(1)
    assert cdist(together, centres).argmin(1).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.slow
@pytest.mark.parametrize("settings", BOTH)
def test_the_arrangement_of_the_start_is_kept(settings: TsneSettings | PacmapSettings) -> None:
    points, corners = groups(), np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        start = np.repeat(corners[order], 20, axis=0)
        found = embed(points, 2, settings, start=start).reshape(4, 20, 2).mean(1)
        found = align(found, corners[order])
        nearest = cdist(found / found.std(), corners[order] * 2 - 1).argmin(1)
        assert nearest.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("method", ["tsne", "pacmap"])
def test_each_layer_by_itself_starts_from_the_one_before(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def spy(vectors: np.ndarray, dims: int, settings: object, **others: object) -> np.ndarray:
        starts.append(others["start"])
        return vectors[:, :dims]

    monkeypatch.setattr("bertcore.analysis.space.projection.embed", spy)
    found = map_layers(cloud(3, 20, 8), method=method, space="separate")
    assert starts[0] is None
    np.testing.assert_array_equal(np.stack(starts[1:]), found.coordinates[:-1])


def test_equal_vectors_start_from_the_mean_of_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points, start = cloud(30, 8), cloud(31, 2, seed=2)
    seen = {}

    def spy(distinct: np.ndarray, dims: int, settings: object, **others: object) -> Embedding:
        seen.update(distinct=distinct, **others)
        return Embedding(distinct[:, :dims], lambda vectors: vectors)

    monkeypatch.setattr("bertcore.analysis.space.projection.fit", spy)
    found = embed(np.concatenate([points, points[:1]]), 2, QUICK, start=start)
    np.testing.assert_array_equal(found, np.concatenate([points, points[:1]])[:, :2])
    mean = np.concatenate([start[[0, 30]].mean(0, keepdims=True), start[1:30]])
    order = [(points == one).all(1).argmax() for one in seen["distinct"]]
    np.testing.assert_allclose(seen["start"], mean[order], atol=1e-6)


@pytest.mark.parametrize("method", ["tsne", "pacmap"])
@pytest.mark.parametrize("num_points", [1, 2, 3, 7])
def test_few_points_are_shown_by_pca(method: str, num_points: int) -> None:
    vectors = cloud(1, num_points, 8)
    found = map_layers(vectors, method=method)
    assert found.method == "pca"
    name = {"tsne": "t-SNE", "pacmap": "PaCMAP"}[method]
    assert found.notes == (
        f"Shown by PCA: {name} needs {MIN_EMBEDDED} different points and there are {num_points}.",
    )
    np.testing.assert_array_equal(found.coordinates, map_layers(vectors).coordinates)
    with pytest.raises(ValueError, match=f"{num_points} distinct points; {name} needs 8"):
        embed(vectors[0], 2, next(iter(OF_METHOD[method].values())))


@pytest.mark.slow
@pytest.mark.parametrize("num_points", [8, 9, 12, 20])
@pytest.mark.parametrize(
    "settings",
    [
        TsneSettings(perplexity=2, n_iter=50),
        PacmapSettings(n_neighbors=100),
        PacmapSettings(n_neighbors=50, MN_ratio=0, FP_ratio=5),
        PacmapSettings(MN_ratio=0, FP_ratio=0.1),
    ],
)
def test_from_eight_points_on_there_is_a_map(
    num_points: int, settings: TsneSettings | PacmapSettings
) -> None:
    points = np.zeros((num_points, 200), dtype=np.float32)  # most columns are constant
    points[1:, :5] = cloud(num_points - 1, 5)
    found = embed(points, 2, settings)
    assert np.isfinite(found).all()
    assert len(np.unique(found, axis=0)) > num_points // 2


def test_points_with_nan_are_left_out() -> None:
    vectors = cloud(2, 20, 8)
    vectors[0, 5, 2] = np.nan
    found = map_layers(vectors, method="tsne", tsne=QUICK)
    clean = map_layers(np.delete(vectors, 5, axis=1), method="tsne", tsne=QUICK)
    assert np.isnan(found.coordinates[:, 5]).all()
    np.testing.assert_array_equal(np.delete(found.coordinates, 5, axis=1), clean.coordinates)
    assert "1 of 20 points are not drawn" in found.notes[0]
    with pytest.raises(ValueError, match="every vector holds NaN"):
        map_layers(np.full((1, 20, 8), np.nan), method="tsne")


def test_the_perplexity_is_less_than_the_number_of_points() -> None:
    points = cloud(16, 8)
    for perplexity in (16, 30):
        message = f"perplexity is {perplexity} and there are 16 distinct points; expected less"
        with pytest.raises(ValueError, match=message):
            embed(points, 2, TsneSettings(perplexity=perplexity))
    found = map_layers(points[None], method="tsne")
    assert found.method == "tsne"
    assert found.notes == (
        "The perplexity is 5 instead of 30: it must be less than the number of different points, "
        "16.",
    )
    lowered = map_layers(points[None], method="tsne", tsne=TsneSettings(perplexity=5))
    np.testing.assert_array_equal(found.coordinates, lowered.coordinates)


def test_ratios_that_leave_no_pair() -> None:
    with pytest.raises(ValueError, match="8 distinct points, too few for a neighbour"):
        embed(cloud(8, 8), 2, PacmapSettings(FP_ratio=20))


@pytest.mark.parametrize("method", ["tsne", "pacmap"])
def test_too_many_points(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.analysis.space.projection.MAX_EMBEDDED", 10)
    with pytest.raises(ValueError, match="11 points; the limit of one"):
        map_layers(cloud(1, 11, 4), method=method, tsne=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("settings", BOTH)
def test_a_map_that_is_given_up_stops_at_its_next_report(
    settings: TsneSettings | PacmapSettings,
) -> None:
    heard = []

    def give_up(fraction: float, stage: str) -> None:
        heard.append(fraction)
        if stage == "Laying out the points" and fraction > 0.4:
            raise InterruptedError(stage)

    with pytest.raises(InterruptedError):
        embed(cloud(60, 8), 2, settings, progress=give_up)
    assert max(heard) < 0.5
    assert not numba_lock.locked()
    assert np.isfinite(embed(cloud(60, 8), 2, settings)).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"perplexity": 1},
        {"perplexity": float("nan")},
        {"perplexity": float("inf")},
        {"early_exaggeration": 0.5},
        {"learning_rate": -1},
        {"n_iter": 0},
        {"n_iter": 10**6},
        {"initialization": "spectral"},
        {"metric": "hamming"},
        {"seed": -1},
    ],
)
def test_tsne_settings_out_of_range(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        TsneSettings(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_neighbors": 1},
        {"MN_ratio": -0.1},
        {"MN_ratio": float("nan")},
        {"FP_ratio": 0},
        {"FP_ratio": 0.01},
        {"FP_ratio": 21},
        {"metric": "angular"},
        {"seed": 2**32},
    ],
)
def test_pacmap_settings_out_of_range(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        PacmapSettings(**changes)


def test_the_defaults_are_those_of_the_libraries() -> None:
    theirs, ours = TSNE(), TsneSettings()
    for name in ("perplexity", "n_iter", "initialization"):
        assert getattr(theirs, name) == getattr(ours, name)
    assert theirs.early_exaggeration_iter == EXAGGERATED_STEPS
    assert theirs.early_exaggeration == ours.early_exaggeration
    assert theirs.learning_rate == "auto"
    for name in ("n_neighbors", "MN_ratio", "FP_ratio"):
        assert getattr(PaCMAP(), name) == getattr(PacmapSettings(), name)
    assert METRICS[0] == ours.metric == PacmapSettings().metric
