"""How true a map is, how well groups part in the full space, and how narrow that space is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

MAX_POINTS = 600
"""Most points that a quality is computed from; more are drawn at random with a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Faithfulness:
    """How much of the full space's neighbourhoods a map keeps, for each layer."""

    trustworthiness: NDArray[np.float64]
    """1: no strangers among a point's neighbours in the map; about 0.5 by chance; [L+1]."""
    overlap: NDArray[np.float64]
    """Share of a point's k nearest vectors that are among its k nearest in the map, [L+1]."""
    k: int
    """Size of the neighbourhood; 0 where there are too few points (both are NaN then)."""
    num_points: int
    """Points they were computed from."""


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """How well points with one label keep together in the full space, for each layer."""

    silhouette: NDArray[np.float64]
    """Mean silhouette by cosine distance, -1 to 1; 0 means that groups overlap; [L+1]."""
    purity: NDArray[np.float64]
    """Share of a point's k nearest neighbours (cosine) that have its label, 0 to 1, [L+1]."""
    chance: float
    """The purity that random neighbours would have."""
    k: int
    """Neighbours looked at."""
    num_points: int
    """Points they were computed from."""


@dataclass(frozen=True, slots=True, eq=False)
class Isotropy:
    """Mean cosine between vectors of one layer: 0 all directions are used, 1 a single one."""

    any_pair: NDArray[np.float64]
    """Over all pairs of points, [L+1]."""
    same_word: NDArray[np.float64]
    """Over pairs that are the same word at different places, [L+1]; NaN where no word repeats."""


def faithfulness(
    vectors: Floats, coordinates: Floats, *, k: int = 10, metric: str = "cosine", seed: int = 0
) -> Faithfulness:
    """Measure how far each layer's map [L+1, N, 2 or 3] keeps the neighbours of [L+1, N, D].

    Args:
        vectors, coordinates: From `map_layers`; points that are not finite are left out.
        k: Size of the neighbourhood; lowered to less than half the points.
        metric: Distance between vectors, a name of scikit-learn's `pairwise_distances`.
        seed: Draws MAX_POINTS points where there are more.

    Source: trustworthiness of Venna and Kaski 2001, from scikit-learn.
    """
    from sklearn.manifold import trustworthiness
    from sklearn.metrics import pairwise_distances

    rows = _sample(np.asarray(np.isfinite(coordinates).all((0, 2))), seed)
    k = min(k, (len(rows) - 1) // 2)
    num_layers = len(vectors)
    if k < 1:
        return Faithfulness(np.full(num_layers, np.nan), np.full(num_layers, np.nan), 0, len(rows))
    trust, overlap = np.empty(num_layers), np.empty(num_layers)
    for layer in range(num_layers):
        distances = pairwise_distances(vectors[layer, rows], metric=metric)
        in_map = pairwise_distances(coordinates[layer, rows])
        trust[layer] = trustworthiness(
            distances, coordinates[layer, rows], n_neighbors=k, metric="precomputed"
        )
        near, near_in_map = _nearest(distances, k), _nearest(in_map, k)
        overlap[layer] = (near[:, :, None] == near_in_map[:, None, :]).sum() / near.size
    return Faithfulness(trust, overlap, k, len(rows))


def separation(
    vectors: Floats, labels: Sequence[str], *, k: int = 5, seed: int = 0
) -> Separation | None:
    """Measure how well the labels part the points at each layer, or return None if they cannot.

    Points with an empty label or with NaN are left out. There must be at least two labels with
    two points each among them.

    Args:
        vectors: [L+1, N, D].
        labels: One for each point.
        k: Neighbours of the purity; lowered to one less than the points of the smallest label.
        seed: Draws MAX_POINTS points where there are more.

    Source: silhouette of Rousseeuw 1987, from scikit-learn; purity as a k-nearest-neighbour vote.
    """
    from sklearn.metrics import pairwise_distances, silhouette_score

    names = np.asarray(labels, dtype=object)
    usable = (names != "") & np.isfinite(vectors).all((0, 2))
    rows = _sample(usable, seed)
    # A label with a single point has no neighbour of its kind.
    found, counts = np.unique(names[rows].astype(str), return_counts=True)
    rows = rows[np.isin(names[rows].astype(str), found[counts > 1])]
    kept, counts = np.unique(names[rows].astype(str), return_counts=True)
    if len(kept) < 2:
        return None
    names = names[rows].astype(str)
    k = min(k, int(counts.min()) - 1)
    silhouettes, purities = np.empty(len(vectors)), np.empty(len(vectors))
    for layer, points in enumerate(vectors[:, rows]):
        distances = pairwise_distances(points, metric="cosine")
        np.fill_diagonal(distances, 0)
        silhouettes[layer] = silhouette_score(distances, names, metric="precomputed")
        purities[layer] = (names[_nearest(distances, k)] == names[:, None]).mean()
    total = len(rows)
    chance = float((counts * (counts - 1)).sum() / (total * (total - 1)))
    return Separation(silhouettes, purities, chance, k, total)


def isotropy(vectors: Floats, words: Sequence[str]) -> Isotropy:
    """Return the mean cosine between vectors of each layer, of all pairs and within words.

    Args:
        vectors: [L+1, N, D]; points that are not finite are left out.
        words: The word of each point.

    Source: Ethayarajh 2019, "How Contextual are Contextualized Word Representations?"
    """
    finite = np.isfinite(vectors).all((0, 2))
    points = vectors[:, finite].astype(np.float64)
    lengths = np.linalg.norm(points, axis=-1, keepdims=True)
    units = np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 0)
    _, groups = np.unique(np.asarray(words, dtype=str)[finite], return_inverse=True)
    # Of n unit vectors the pairs' cosines sum to (|sum|^2 - n) / 2: no N x N matrix is needed.
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sums = np.add.reduceat(units[:, order], starts, axis=1) if len(order) else units
    squares = (units**2).sum(-1)
    within = (sums**2).sum((-2, -1)) - squares.sum(-1)
    counts = np.bincount(groups)
    return Isotropy(
        any_pair=_ratio(
            (units.sum(1) ** 2).sum(-1) - squares.sum(-1), len(groups) * (len(groups) - 1)
        ),
        same_word=_ratio(within, int((counts * (counts - 1)).sum())),
    )


def _ratio(sums: Floats, num_pairs: int) -> NDArray[np.float64]:
    return np.asarray(sums / num_pairs if num_pairs else np.full(len(sums), np.nan), np.float64)


def _sample(usable: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
    rows = np.flatnonzero(usable)
    if len(rows) <= MAX_POINTS:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, MAX_POINTS, replace=False))


def _nearest(distances: Floats, k: int) -> NDArray[np.int64]:
    """Return the k nearest other points of each point, [N, k], from distances [N, N]."""
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    nearest: NDArray[np.int64] = np.argsort(others, axis=1, kind="stable")[:, :k]
    return nearest
