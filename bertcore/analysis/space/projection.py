"""Maps in two or three dimensions of the vectors of every layer: PCA, UMAP, t-SNE."""

from __future__ import annotations

import io
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bertcore.base.states import state_name
from bertcore.configs.maps import TsneSettings, UmapSettings

if TYPE_CHECKING:
    from bertcore.analysis.shared.collect import Progress, VectorTable

Floats = NDArray[np.floating]

METHODS = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
"""Methods and their names."""
AXES = "axes"
"""The method of `map_between`."""
End = tuple[str, NDArray[np.bool_]]
"""An end of an axis: the name of a group of points, and which points are in it, [N]."""
SPACES = ("joint", "separate")
MIN_EMBEDDED = 8
"""With fewer distinct points there are no neighbourhoods (UMAP fails below 4), so PCA is used."""
MAX_EMBEDDED = 12_000
"""Maximum number of points of one map by UMAP or t-SNE; about a minute on one core."""

# numba's fallback threading layer aborts the process when two threads run its kernels at once.
_numba_lock = threading.Lock()
umap_opened = threading.Event()
"""Set once UMAP is imported and compiled: 17 s of a processor, once in a process."""


@dataclass(frozen=True, slots=True, eq=False)
class Pca:
    """Principal components of N points."""

    components: NDArray[np.float64]
    """[dims, D], unit length, by falling variance; its largest entry is positive."""
    mean: NDArray[np.float64]
    """[D]"""
    explained: NDArray[np.float64]
    """Fraction of the variance along each component, [dims]; sums to at most 1."""

    def transform(self, vectors: Floats) -> NDArray[np.float32]:
        """Return the coordinates [..., dims] of vectors [..., D]."""
        return ((vectors - self.mean) @ self.components.T).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class LayerMap:
    """The place of each of N points in the map of each layer."""

    coordinates: NDArray[np.float32]
    """[L+1, N, dims]; NaN for a point whose vector holds NaN or infinity."""
    explained: NDArray[np.float64]
    """Fraction of a layer's own variance that a PCA map shows along each axis, [L+1, dims];
    NaN for the other methods, whose axes mean nothing."""
    method: str
    """The method used, one of METHODS, or AXES."""
    space: str
    """"joint": one map for all layers. "separate": one for each, rotated to match the previous one.
    """
    notes: tuple[str, ...]
    """Notes for the reader, such as why PCA replaced another method; one sentence each."""
    axes: tuple[str, ...] = ()
    """What the axes are, if they are one's own."""

    @property
    def variance_shown(self) -> NDArray[np.float64]:
        """Fraction of each layer's own variance in its map, [L+1]."""
        shown: NDArray[np.float64] = self.explained.sum(1)
        return shown

    @property
    def places(self) -> dict[str, NDArray[np.float32]]:
        """The coordinates by axis: x, y and in three dimensions z, [L+1, N] each."""
        return dict(zip("xyz", np.moveaxis(self.coordinates, 2, 0), strict=False))


def pca(vectors: Floats, dims: int) -> Pca:
    """Return the first `dims` principal components of vectors [N, D].

    Components beyond the rank are zero, so even 1, 2 or identical points have a map. ValueError if
    one contains NaN or infinity.

    Source: as scikit-learn's PCA: the covariance's eigenvectors if N >= D, else the SVD; each
        component's sign makes its largest entry positive.
    """
    if not np.isfinite(vectors).all():
        raise ValueError("vectors contain NaN or infinity; leave those points out.")
    num_points, width = vectors.shape
    mean = vectors.mean(0, dtype=np.float64)
    centred = vectors - mean
    if num_points >= width:
        variances, columns = np.linalg.eigh(centred.T @ centred)
        rows, variances = columns.T[::-1], np.maximum(variances[::-1], 0)
    else:
        _, singular, rows = np.linalg.svd(centred, full_matrices=False)
        variances = singular**2
    total = variances.sum()
    # Rounding leaves tiny, meaningless values in directions without variance.
    floor = (np.abs(vectors).max(initial=0.0) * np.finfo(np.float32).eps) ** 2 * num_points
    rank = min(dims, int((variances > floor).sum()))
    components, explained = np.zeros((dims, width)), np.zeros(dims)
    components[:rank] = rows[:rank]
    largest = np.take_along_axis(components, np.abs(components).argmax(1)[:, None], 1)
    components *= np.where(largest < 0, -1.0, 1.0)
    if rank:
        explained[:rank] = variances[:rank] / total
    return Pca(components=components, mean=mean, explained=explained)


Settings = UmapSettings | TsneSettings


class TooManyPointsError(ValueError):
    """There are more distinct points than a method can map."""


def embed(
    vectors: Floats,
    dims: int,
    settings: Settings,
    *,
    start: Floats | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Return the coordinates [N, dims] of vectors [N, D] by UMAP or t-SNE.

    Equal vectors get equal places.

    Args:
        vectors: At least MIN_EMBEDDED distinct ones, all finite.
        start: Places to start from, [N, dims]; equal vectors start from the mean of theirs. None
            means the PCA map, so that the overall arrangement does not depend on chance.

    UMAP's `n_neighbors` is lowered to the number of points minus 1 if there are fewer.

    ValueError if there are too few distinct points, or not more than the perplexity;
    TooManyPointsError if there are too many.

    Source: umap-learn, scikit-learn; the start follows Kobak and Linderman 2021.
    """
    distinct, places = np.unique(vectors, axis=0, return_inverse=True)
    name = METHODS[method_of(settings)]
    if len(distinct) < MIN_EMBEDDED:
        raise ValueError(
            f"there are {len(distinct)} distinct points; {name} needs {MIN_EMBEDDED}. Use PCA."
        )
    if len(distinct) > MAX_EMBEDDED:
        raise TooManyPointsError(
            f"there are {len(distinct):,} points; the limit of one {name} is {MAX_EMBEDDED:,}. "
            "Use fewer sentences, or a separate map for each layer."
        )
    places = places.reshape(-1)
    if start is not None:
        sums = np.zeros((len(distinct), dims))
        np.add.at(sums, places, start)
        start = sums / np.bincount(places)[:, None]
    report = progress or (lambda fraction, stage: None)
    begin = pca(distinct, dims).transform(distinct) if start is None else start - start.mean(0)
    begin = begin.astype(np.float32)
    if isinstance(settings, TsneSettings):
        return _tsne(distinct, begin, settings, report)[places]
    return _umap(distinct, begin, settings, report)[places]


def method_of(settings: Settings) -> str:
    """Return the name in METHODS to which settings belong."""
    return "tsne" if isinstance(settings, TsneSettings) else "umap"


def open_umap() -> None:
    """Import and compile UMAP, so that the first map of a process need not wait for it."""
    if not umap_opened.is_set():
        embed(np.random.default_rng(0).normal(size=(4 * MIN_EMBEDDED, 4)), 2, UmapSettings())


def _tsne(
    distinct: Floats, start: NDArray[np.float32], settings: TsneSettings, report: Progress
) -> NDArray[np.float32]:
    """Return the coordinates [N, dims] by t-SNE of scikit-learn, which reports no progress."""
    from sklearn.manifold import TSNE

    report(0.1, "Laying out the points")
    spread = float(start[:, 0].std()) or 1.0
    made: NDArray[np.float32] = TSNE(
        n_components=start.shape[1],
        perplexity=settings.perplexity,
        metric=settings.metric,
        init=start / np.float32(spread) * np.float32(1e-4),  # the size of its own PCA start
        random_state=settings.seed,
    ).fit_transform(distinct.astype(np.float32))
    report(1.0, "Done")
    return made


def _umap(
    distinct: Floats, start: NDArray[np.float32], settings: UmapSettings, report: Progress
) -> NDArray[np.float32]:
    """Return the coordinates [N, dims] by UMAP, which runs once at a time in a process."""
    start = start * np.float32(10 / max(float(np.abs(start).max()), 1e-12))
    # Points that PCA puts in the same place could never separate.
    start += np.random.default_rng(settings.seed).normal(0, 1e-3, start.shape).astype(np.float32)
    report(0.0, "Waiting for another map" if _numba_lock.locked() else "Opening UMAP")
    with _numba_lock:
        report(0.05, "Opening UMAP")
        from umap import UMAP, umap_

        umap_.pairwise_distances = _pairwise_distances
        report(0.2, "Looking for neighbours")
        with warnings.catch_warnings(), _released_progress_bar():
            # It warns that a seed means one core, and of duplicates, which `np.unique` removed.
            warnings.simplefilter("ignore")
            fitted = UMAP(
                n_components=start.shape[1],
                n_neighbors=min(settings.n_neighbors, len(distinct) - 1),
                min_dist=settings.min_dist,
                metric=settings.metric,
                random_state=settings.seed,
                init=start,
                n_jobs=1,
                tqdm_kwds=_epochs(report),
            ).fit(distinct.astype(np.float32))
    umap_opened.set()
    report(1.0, "Done")
    return np.asarray(fitted.embedding_, dtype=np.float32)


def _pairwise_distances(
    vectors: Floats, others: Floats | None = None, *, metric: Callable[..., float]
) -> Floats:
    """Return the distances of all pairs, [N, M], for UMAP's maps of fewer than 4,096 points.

    UMAP hands its own compiled function of two vectors to scikit-learn, which calls it from Python
    for each pair: 3,000 points took 7 s, and could not be stopped meanwhile.
    """
    from sklearn.metrics import pairwise_distances

    if metric.__name__ == "correlation":
        vectors = vectors - vectors.mean(1, keepdims=True)
        others = None if others is None else others - others.mean(1, keepdims=True)
    name = {"correlation": "cosine"}.get(metric.__name__, metric.__name__)
    distances: Floats = pairwise_distances(vectors, others, metric=name)
    return distances


def align(coordinates: Floats, target: Floats) -> NDArray[np.float32]:
    """Rotate or mirror coordinates [N, dims] to lie as close as possible to `target`.

    Distances between points are preserved: no scaling. Both are centred first, and so is the
    result.

    Source: Schoenemann 1966, the orthogonal Procrustes problem.
    """
    centred, wanted = coordinates - coordinates.mean(0), target - target.mean(0)
    left, _, right = np.linalg.svd(centred.T.astype(np.float64) @ wanted)
    turned: NDArray[np.float32] = (centred @ (left @ right)).astype(np.float32)
    return turned


def map_layers(
    vectors: Floats,
    *,
    dims: int = 2,
    method: str = "pca",
    space: str = "joint",
    level_layers: bool = True,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> LayerMap:
    """Return a map of every layer in which points can be followed from layer to layer.

    Args:
        vectors: Vectors of N points at each layer, [L+1, N, D].
        method: One of METHODS. With fewer than MIN_EMBEDDED distinct points PCA replaces the
            others, and `notes` states it.
        space: "joint" fits one map to the points of all layers together, so that places mean the
            same in each. "separate" fits each layer separately and rotates it to match the previous
            one (see `align`). EXPERIMENTS.md compares them.
        level_layers: Before a joint fit, bring each layer to mean 0 and mean squared length 1, so
            that all count alike. Without it the step from one layer's mean to the next, or the
            layer with the longest vectors, often decides the map.
        settings: Parameters of the method; None, or those of another one, means its defaults. A
            perplexity that is not less than the number of distinct points is lowered to a third of
            them, and `notes` states it.

    ValueError if an argument is not one of those listed, no point is finite, there are more points
    than MAX_EMBEDDED.
    """
    _check(vectors, dims, method, space)
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(vectors).all((0, 2)))
    notes = []
    if not finite.any():
        raise ValueError(
            "every vector holds NaN or infinity, so there is nothing to map. "
            "The checkpoint is damaged, or its numbers overflow: try float32."
        )
    if not finite.all():
        notes.append(
            f"{int((~finite).sum())} of {len(finite)} points are not drawn: their vectors hold "
            "NaN or infinity."
        )
    points, fits = _to_fit(vectors[:, finite], space, level_layers=level_layers)
    if settings is None or method_of(settings) != method:
        settings = {"pca": None, "umap": UmapSettings(), "tsne": TsneSettings()}[method]
    if settings is not None:
        fewest = _fewest(fits)
        where = "" if space == "joint" else " at some layer"
        if fewest < MIN_EMBEDDED:
            notes.append(
                f"Shown by PCA: {METHODS[method]} needs {MIN_EMBEDDED} different points and there "
                f"are {fewest}{where}."
            )
            method, settings = "pca", None
        elif isinstance(settings, TsneSettings) and settings.perplexity >= fewest:
            lowered = (fewest - 1) / 3
            notes.append(
                f"The perplexity is {lowered:.3g} instead of {settings.perplexity:g}: it must be "
                f"less than the number of different points, {fewest}{where}."
            )
            settings = replace(settings, perplexity=lowered)
    maps: list[NDArray[np.float32]] = []
    for index, points_fitted in enumerate(fits):
        if settings is None:
            made = pca(points_fitted, dims).transform(points_fitted)
        else:
            part = _part(progress, index, len(fits))
            before = maps[-1] if maps else None
            made = embed(points_fitted, dims, settings, start=before, progress=part)
        maps.append(align(made, maps[-1]) if maps else made)
    placed = np.stack(maps).reshape(*points.shape[:2], dims)
    coordinates = np.full((*vectors.shape[:2], dims), np.nan, dtype=np.float32)
    coordinates[:, finite] = placed
    explained = _explained(points, placed)
    return LayerMap(
        coordinates=coordinates,
        explained=explained if method == "pca" else np.full_like(explained, np.nan),
        method=method,
        space=space,
        notes=tuple(notes),
    )


def map_between(vectors: Floats, ends: Sequence[End]) -> LayerMap:
    """Project points on the direction from one group of them to another, at each layer.

    An axis leads from the mean vector of its first group, at -1/2, to that of its second, at 1/2.

    Args:
        vectors: [L+1, N, D].
        ends: Two groups for x, and two for y. Without those, y is the first principal component
            of what x leaves, in the same unit.

    ValueError if two groups have the same mean vector.
    """
    finite = np.isfinite(vectors).all((0, 2))
    places = np.full((*vectors.shape[:2], 2), np.nan)
    cosines, pairs = [], [(ends[i], ends[i + 1]) for i in range(0, len(ends), 2)]
    for layer, points in enumerate(vectors.astype(np.float64)):
        units: list[Floats] = []
        for axis, ((first, is_first), (second, is_second)) in enumerate(pairs):
            start, end = (points[each & finite].mean(0) for each in (is_first, is_second))
            length = np.linalg.norm(end - start)
            if not length > 0:
                raise ValueError(
                    f"{first!r} and {second!r} have the same vector {state_name(layer)}, so no "
                    "axis leads from one to the other. Choose other words."
                )
            units.append((end - start) / length)
            places[layer, :, axis] = (points - (start + end) / 2) @ units[-1] / length
        cosines.append(units[0] @ units[-1])
        if len(pairs) == 1:
            rest = points[finite] - np.outer(points[finite] @ units[0], units[0])
            across = pca(rest, 1).transform(rest)[:, 0] / length
            flips = layer and across @ places[layer - 1, finite, 1] < 0
            places[layer, finite, 1] = -across if flips else across
    places[:, ~finite] = np.nan
    notes = (f"The two axes have a cosine of {cosines[-1]:.2f} in the end; at 0 they are square.",)
    names = [f"{first} → {second}" for (first, _), (second, _) in pairs]
    return LayerMap(
        coordinates=places.astype(np.float32),
        explained=np.full((len(vectors), 2), np.nan),
        method=AXES,
        space="joint",
        notes=notes[: len(pairs) - 1],
        axes=(*names, "what differs most besides")[:2],
    )


def are_few(table: VectorTable, space: str, *, level_layers: bool) -> bool:
    """Return whether `map_layers` maps these points by PCA whatever the method."""
    points = table.vectors[:, np.isfinite(table.vectors).all((0, 2))]
    fits = _to_fit(points, space, level_layers=level_layers)[1] if points.size else []
    return not fits or _fewest(fits) < MIN_EMBEDDED


def _to_fit(
    points: Floats, space: str, *, level_layers: bool
) -> tuple[Floats, list[NDArray[np.floating]]]:
    """Return points [L+1, N, D], levelled if asked for, and those of each map, [N of it, D]."""
    if space == "separate":
        return points, list(points)
    if level_layers:
        points = _levelled(points)
    return points, [points.reshape(-1, points.shape[-1])]


def _fewest(fits: list[NDArray[np.floating]]) -> int:
    return min(len(np.unique(each, axis=0)) for each in fits)


def _levelled(points: Floats) -> NDArray[np.float32]:
    """Return points [L+1, N, D] of mean 0 and mean squared length 1 in each layer."""
    centred = points - points.mean(1, keepdims=True, dtype=np.float64)
    size = np.sqrt((centred**2).sum(-1).mean(1))[:, None, None]
    # A layer whose points are equal up to rounding has no length to scale to 1.
    real = size > np.abs(points).max((1, 2), keepdims=True) * 1e-6
    level: NDArray[np.float32] = (centred / np.where(real, size, 1.0)).astype(np.float32)
    return level


def _explained(points: Floats, placed: Floats) -> NDArray[np.float64]:
    """Return each axis's fraction of each layer's variance, [L+1, dims]; 0 where nothing varies."""
    total = points.var(1, dtype=np.float64).sum(-1)[:, None]
    along = placed.var(1, dtype=np.float64)
    ratios: NDArray[np.float64] = np.divide(along, total, out=np.zeros_like(along), where=total > 0)
    return ratios


def _check(vectors: Floats, dims: int, method: str, space: str) -> None:
    if vectors.ndim != 3 or 0 in vectors.shape:
        raise ValueError(
            f"vectors have shape {vectors.shape}; expected [L+1, N, D] with at least one point."
        )
    if dims not in (2, 3):
        raise ValueError(f"dims is {dims}; expected 2 or 3.")
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}.")
    if space not in SPACES:
        raise ValueError(f"space is {space!r}; expected one of {', '.join(SPACES)}.")


def _part(progress: Progress | None, index: int, count: int) -> Progress | None:
    """Return a progress for fit `index` of `count` that fills its part of the whole."""
    if progress is None or count == 1:
        return progress

    def report(fraction: float, stage: str) -> None:
        progress((index + fraction) / count, f"Layer {index} of {count - 1}: {stage}")

    return report


def _epochs(report: Progress) -> dict[str, object]:
    """Return tqdm settings that report the progress of UMAP's epochs.

    UMAP has no callback, but hands these settings to its progress bar: the bar is written, as
    a bare percentage, into a file that reports it.
    """
    return {
        "disable": False,
        "file": _PercentFile(
            lambda fraction: report(0.3 + 0.7 * fraction, "Laying out the points")
        ),
        "bar_format": "{percentage:.1f}",
        "mininterval": 0.2,
    }


@contextmanager
def _released_progress_bar() -> Iterator[None]:
    """Release tqdm's lock, which it would keep forever if the file of a bar raises.

    A progress callback that raises ends the map. Without this every other bar of the process, such
    as that of a download, would wait forever.
    """
    from tqdm.auto import tqdm

    try:
        yield
    except BaseException:
        with suppress(RuntimeError, AssertionError):  # another thread's, or nobody's
            tqdm.get_lock().release()
        raise


class _PercentFile(io.TextIOBase):
    def __init__(self, tell: Callable[[float], None]) -> None:
        self.hear = tell

    def write(self, text: str) -> int:
        try:
            fraction = float(text) / 100
        except ValueError:
            return len(text)
        self.hear(fraction)
        return len(text)
