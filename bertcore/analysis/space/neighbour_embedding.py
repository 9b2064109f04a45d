"""t-SNE and PaCMAP of distinct vectors, with a transform for new vectors.

t-SNE is openTSNE's in every map: scikit-learn's has no transform, reports no progress and cannot be
stopped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bertcore.configs.maps import PacmapSettings, TsneSettings

if TYPE_CHECKING:
    from bertcore.analysis.shared.collect import Progress

Floats = NDArray[np.floating]

EXAGGERATED_STEPS = 250
"""Steps of t-SNE with early exaggeration, before its `n_iter`; the default of openTSNE."""
PHASES = (100, 100, 250)
"""Steps of PaCMAP's three phases; its default."""
_STEPS_BETWEEN_REPORTS = 10

# numba's fallback threading layer aborts the process when two threads run its kernels at once.
numba_lock = threading.Lock()
"""Held while UMAP or PaCMAP computes, and while transforming with a fitted UMAP."""


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """A fitted map."""

    coordinates: NDArray[np.float32]
    """Coordinates of the N vectors it was fitted to, [N, dims]."""
    transform: Callable[[Floats], NDArray[np.float32]]
    """Places further vectors [M, D] among them, [M, dims], each independently."""


def fit_tsne(
    distinct: Floats,
    start: Floats,
    settings: TsneSettings,
    *,
    progress: Progress,
) -> Embedding:
    """Return t-SNE fitted to distinct vectors.

    Args:
        distinct: [N, D], finite, no two equal.
        start: Places to start from, [N, 2 or 3]; only their arrangement matters. Not used if the
            initialization is random.
        progress: Called with the fraction done and the stage; may raise to stop.

    ValueError if the perplexity is not less than N.

    Source: openTSNE, one thread. In three dimensions by Barnes-Hut.
    """
    num_points, dims = start.shape
    if settings.perplexity >= num_points:
        raise ValueError(
            f"perplexity is {settings.perplexity:g} and there are {num_points:,} distinct points; "
            "expected less than the number of points. Lower it, or take more points."
        )
    progress(0.0, "Opening t-SNE")
    from openTSNE import TSNE, initialization

    total = EXAGGERATED_STEPS + settings.n_iter
    done = 0

    def hear(*_: object) -> bool:
        nonlocal done
        done += _STEPS_BETWEEN_REPORTS
        progress(0.2 + 0.8 * min(1.0, done / total), "Laying out the points")
        return False

    if settings.initialization == "random":
        begin = initialization.random(num_points, dims, random_state=settings.seed)
    else:
        begin = initialization.jitter(
            initialization.rescale(start.astype(np.float64)), random_state=settings.seed
        )
    progress(0.05, "Looking for neighbours")
    reducer = TSNE(
        n_components=dims,
        perplexity=settings.perplexity,
        early_exaggeration=settings.early_exaggeration,
        early_exaggeration_iter=EXAGGERATED_STEPS,
        learning_rate=settings.learning_rate or "auto",
        n_iter=settings.n_iter,
        metric=_metric(settings.metric),
        initialization=begin,
        negative_gradient_method="auto" if dims == 2 else "bh",
        n_jobs=1,
        random_state=settings.seed,
        callbacks=hear,
        callbacks_every_iters=_STEPS_BETWEEN_REPORTS,
    )
    fitted = reducer.fit(prepared(distinct, settings.metric))
    # Its transform would call the callbacks, too.
    fitted.gradient_descent_params["callbacks"] = None
    if dims == 2:  # by interpolation, whose time hardly depends on the number of points
        fitted.gradient_descent_params["negative_gradient_method"] = "fft"
    progress(1.0, "Done")

    def transform(vectors: Floats) -> NDArray[np.float32]:
        placed = fitted.transform(prepared(vectors, settings.metric))
        return np.asarray(placed, dtype=np.float32)

    return Embedding(np.asarray(fitted, dtype=np.float32), transform)


def fit_pacmap(
    distinct: Floats,
    start: Floats,
    settings: PacmapSettings,
    *,
    progress: Progress,
) -> Embedding:
    """Return PaCMAP fitted to distinct vectors.

    Args:
        distinct: [N, D], finite, no two equal.
        start: Places to start from, [N, 2 or 3]; only their arrangement matters.
        settings: Its parameters. `n_neighbors` is lowered until the pairs of all kinds of a point
            are fewer than the points.
        progress: Called with the fraction done and the stage; may raise to stop.

    ValueError if there are too few points for a pair of each kind.

    Source: pacmap with faiss's neighbours, one thread; above 100 dimensions it keeps the 100
        largest principal ones.
    """
    num_points, dims = start.shape
    n_neighbors = _neighbours_that_fit(settings, num_points)
    progress(0.0, "Waiting for another map" if numba_lock.locked() else "Opening PaCMAP")
    with numba_lock:
        progress(0.05, "Opening PaCMAP")
        from pacmap import PaCMAP

        logging.getLogger("pacmap").setLevel(logging.ERROR)  # it warns of every seed
        progress(0.2, "Looking for neighbours")
        reducer = PaCMAP(
            n_components=dims,
            n_neighbors=n_neighbors,
            MN_ratio=settings.MN_ratio,
            FP_ratio=settings.FP_ratio,
            distance=_metric(settings.metric),
            num_iters=_Phases(lambda share: progress(0.3 + 0.7 * share, "Laying out the points")),
            random_state=settings.seed,
            save_tree=True,
        ).fit(prepared(distinct, settings.metric), init=start)
        reducer.num_iters = PHASES
    progress(1.0, "Done")

    def transform(vectors: Floats) -> NDArray[np.float32]:
        with numba_lock:
            placed = reducer.transform(prepared(vectors, settings.metric))
        return np.asarray(placed, dtype=np.float32)

    return Embedding(np.asarray(reducer.embedding_, dtype=np.float32), transform)


def prepared(vectors: Floats, metric: str) -> NDArray[np.float32]:
    """Return vectors [N, D] whose Euclidean distances are by cosine or correlation.

    Of unit length, so that a distance is the chord sqrt(2 - 2 cos). openTSNE's own cosine is this
    chord from 1,000 points on and 1 - cos below; neither library has correlation. A vector of
    length 0 stays 0, as far from all others.
    """
    out: NDArray[np.float32] = np.array(vectors, dtype=np.float32)
    if metric == "correlation":
        out -= out.mean(1, keepdims=True)
    if metric in ("cosine", "correlation"):
        length = np.linalg.norm(out, axis=1, keepdims=True)
        np.divide(out, length, out=out, where=length > 0)
    return out


def _metric(metric: str) -> str:
    """Return the metric of the prepared vectors."""
    return "manhattan" if metric == "manhattan" else "euclidean"


def _neighbours_that_fit(settings: PacmapSettings, num_points: int) -> int:
    for k in range(min(settings.n_neighbors, num_points - 1), 0, -1):
        mid_near, further = round(k * settings.MN_ratio), round(k * settings.FP_ratio)
        if further and k + mid_near + further < num_points:
            return k
    raise ValueError(
        f"there are {num_points} distinct points, too few for a neighbour, its mid-near and its "
        f"further pairs with MN_ratio {settings.MN_ratio:g} and FP_ratio {settings.FP_ratio:g}. "
        "Lower the ratios, or take more points."
    )


class _Phases(tuple[int, ...]):
    """PHASES that report how many steps are done.

    PaCMAP has no callback, but reads the lengths of its phases at every step.
    """

    _hear: Callable[[float], None]
    _done: int

    def __new__(cls, hear: Callable[[float], None]) -> _Phases:
        made = super().__new__(cls, PHASES)
        made._hear, made._done = hear, 0
        return made

    def __iter__(self) -> Iterator[int]:
        if self._done % _STEPS_BETWEEN_REPORTS == 0:
            self._hear(min(1.0, self._done / sum(PHASES)))
        self._done += 1
        return super().__iter__()
