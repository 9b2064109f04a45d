"""Quality of a map: trustworthiness, separation of groups, and isotropy of the full space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

MAX_POINTS = 600
"""Most points that a quality is computed from; of more, a random sample with a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Faithfulness:
    """How well a map keeps the neighbourhoods of the full space, for each layer."""

    trustworthiness: NDArray[np.float64]
    """1: no intruders among a point's neighbours in the map; about 0.5 by chance; [L+1]."""
    overlap: NDArray[np.float64]
    """Fraction of a point's k nearest vectors that are among its k nearest in the map, [L+1]."""
    k: int
    """Size of the neighbourhood; 0 where there are too few points (both are NaN then)."""
    num_points: int
    """Points they were computed from."""


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """How well points of one label cluster in the full space, for each layer."""

    silhouette: NDArray[np.float64]
    """Mean silhouette by cosine distance, -1 to 1; 0 means that groups overlap; [L+1]."""
    purity: NDArray[np.float64]
    """Fraction of a point's k nearest neighbours (cosine) that have its label, 0 to 1, [L+1]."""
    chance: float
    """The purity that random neighbours would have."""
    k: int
    """Neighbours of each point."""
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
    vectors: Floats,
    labels: Sequence[str],
    *,
    groups: NDArray[np.integer] | None = None,
    k: int = 5,
    seed: int = 0,
) -> Separation | None:
    """Measure how well the labels separate the points at each layer; None if they cannot.

    Points with an empty label or with NaN are left out. At least two labels must have points in
    two groups each.

    Args:
        vectors: [L+1, N, D].
        labels: One for each point.
        groups: Points of one group, such as the tokens of one sentence, are never compared:
            they have one label and are similar for another reason. None: each point is its own.
        k: Neighbours of the purity; lowered to the comparable points of the smallest label.
        seed: Draws MAX_POINTS points where there are more.

    Source: silhouette of Rousseeuw 1987, equal to scikit-learn's without groups; purity as a
        k-nearest-neighbour vote.
    """
    from sklearn.metrics import pairwise_distances

    names = np.asarray(labels, dtype=str)
    owners = np.arange(len(names)) if groups is None else np.asarray(groups)
    rows = _sample((names != "") & np.isfinite(vectors).all((0, 2)), seed)
    # A label within one group only has no points to compare.
    several = [
        name for name in np.unique(names[rows]) if len(set(owners[rows][names[rows] == name])) > 1
    ]
    rows = rows[np.isin(names[rows], several)]
    if len(several) < 2:
        return None
    is_label = (names[rows][:, None] == np.array(several)[None]).astype(float)  # [N, labels]
    apart = owners[rows][:, None] != owners[rows][None]
    comparable = apart @ is_label
    same = (comparable * is_label).sum(1)
    k = min(k, int(same.min()))
    silhouettes, purities = np.empty(len(vectors)), np.empty(len(vectors))
    for layer, points in enumerate(vectors[:, rows]):
        distances = pairwise_distances(points, metric="cosine")
        means = (distances * apart) @ is_label / comparable
        within = (means * is_label).sum(1)
        between = np.where(is_label > 0, np.inf, means).min(1)
        larger = np.maximum(within, between)
        silhouettes[layer] = np.divide(
            between - within, larger, out=np.zeros(len(rows)), where=larger > 0
        ).mean()
        near = _nearest(np.where(apart, distances, np.inf), k)
        purities[layer] = (is_label[near] * is_label[:, None]).sum(-1).mean()
    chance = float((same / comparable.sum(1)).mean())
    return Separation(silhouettes, purities, chance, k, len(rows))


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
