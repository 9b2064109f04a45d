"""Quality of a map: trustworthiness, continuity, separation of groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

MAX_POINTS = 600
"""Maximum number of points for a quality; if there are more, a random sample with a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Faithfulness:
    """How well a map preserves the neighbourhoods of the full space, for each layer."""

    trustworthiness: NDArray[np.float64]
    """1: no intruders among a point's neighbours in the map; about 0.5 by chance; [L+1]."""
    continuity: NDArray[np.float64]
    """1: none of a point's nearest vectors is far away in the map; about 0.5 by chance; [L+1]."""
    overlap: NDArray[np.float64]
    """Fraction of a point's k nearest vectors that are among its k nearest in the map, [L+1]."""
    k: int
    """Size of the neighbourhood; 0 where there are too few points (all are NaN then)."""
    num_points: int
    """Points they were computed from."""
    num_copies: NDArray[np.int64]
    """Points left out of a layer because their vector is that of another point, [L+1]: equal
    texts, or equal words without positions. Which of them are nearest would be up to chance. With
    fewer than three others, the layer's measures are NaN."""


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
    num_copies: NDArray[np.int64]
    """Points whose vector is that of another point of another group, [L+1]: copies, not evidence
    that the labels separate."""


def map_faithfulness(
    vectors: Floats, coordinates: Floats, *, k: int = 10, metric: str = "cosine", seed: int = 0
) -> Faithfulness:
    """Measure how well each layer's map [L+1, N, 2 or 3] preserves the neighbours of [L+1, N, D].

    Args:
        k: Size of the neighbourhood; lowered to less than half the distinct points of a layer.
        metric: Distance between vectors, a name of scikit-learn's `pairwise_distances`.

    Source: Venna and Kaski 2001; trustworthiness from scikit-learn. Continuity is the same formula
        with the map and the vectors exchanged.
    """
    from sklearn.manifold import trustworthiness
    from sklearn.metrics import pairwise_distances

    rows = sample_rows(np.asarray(np.isfinite(coordinates).all((0, 2))), seed)
    kept = [rows[~are_copies(points[rows])] for points in vectors]
    copies = np.array([len(rows) - len(each) for each in kept])
    k = min(k, (min((len(each) for each in kept if len(each) > 2), default=0) - 1) // 2)
    trust, continuity, overlap = np.full((3, len(vectors)), np.nan)
    for layer, own in enumerate(kept if k > 0 else ()):
        if len(own) < 3:
            continue
        distances = pairwise_distances(vectors[layer, own], metric=metric)
        in_map = pairwise_distances(coordinates[layer, own])
        trust[layer] = trustworthiness(
            distances, coordinates[layer, own], n_neighbors=k, metric="precomputed"
        )
        near, near_in_map = nearest(distances, k), nearest(in_map, k)
        continuity[layer] = _without_excess_rank(in_map, near)
        overlap[layer] = (near[:, :, None] == near_in_map[:, None, :]).sum() / near.size
    return Faithfulness(trust, continuity, overlap, max(k, 0), len(rows), copies)


def are_copies(points: Floats, *, of_other: NDArray[np.integer] | None = None) -> NDArray[np.bool_]:
    """Return which of the points [N, D] equal an earlier one but for rounding, [N].

    With `of_other`, the group of each [N], only copies of points of other groups count, earlier or
    later.
    """
    from sklearn.metrics import pairwise_distances

    if len(points) < 2:
        return np.zeros(len(points), dtype=bool)
    lengths = np.linalg.norm(points, axis=1)
    distances = pairwise_distances(points.astype(np.float64))
    equal = distances <= 1e-5 * np.minimum(lengths[:, None], lengths[None])
    if of_other is not None:
        return np.asarray((equal & (of_other[:, None] != of_other[None])).any(1))
    return np.asarray(np.tril(equal, -1).any(1))


def separation(
    vectors: Floats,
    labels: Sequence[str],
    *,
    groups: NDArray[np.integer] | None = None,
    k: int = 5,
    seed: int = 0,
) -> Separation | None:
    """Measure how well the labels separate the points at each layer; None if they cannot.

    Points with an empty label or with NaN are left out. At least two labels must each have points
    in two groups.

    Args:
        groups: Points of one group, such as the tokens of one sentence, are never compared: they
            share a label and are similar for another reason. None: each point is its own group.
        k: Neighbours of the purity; lowered to the comparable points of the smallest label.

    Source: silhouette of Rousseeuw 1987, equal to scikit-learn's without groups; purity as a
        k-nearest-neighbour vote.
    """
    from sklearn.metrics import pairwise_distances

    names = np.asarray(labels, dtype=str)
    owners = np.arange(len(names)) if groups is None else np.asarray(groups)
    rows = sample_rows((names != "") & np.isfinite(vectors).all((0, 2)), seed)
    # A label within a single group has no points to compare.
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
    copies = np.array([are_copies(each, of_other=owners[rows]).sum() for each in vectors[:, rows]])
    for layer, points in enumerate(vectors[:, rows]):
        distances = pairwise_distances(points, metric="cosine")
        means = (distances * apart) @ is_label / comparable
        within = (means * is_label).sum(1)
        between = np.where(is_label > 0, np.inf, means).min(1)
        larger = np.maximum(within, between)
        silhouettes[layer] = np.divide(
            between - within, larger, out=np.zeros(len(rows)), where=larger > 0
        ).mean()
        near = nearest(np.where(apart, distances, np.inf), k)
        purities[layer] = (is_label[near] * is_label[:, None]).sum(-1).mean()
    chance = float((same / comparable.sum(1)).mean())
    return Separation(silhouettes, purities, chance, k, len(rows), copies)


def _without_excess_rank(distances: Floats, near: NDArray[np.int64]) -> float:
    """Return 1 minus how far the neighbours `near` [N, k] rank beyond k by `distances` [N, N]."""
    num, k = near.shape
    order = nearest(distances, num - 1)
    ranks = np.empty((num, num), dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, num)[None], axis=1)
    excess = np.maximum(0, np.take_along_axis(ranks, near, axis=1) - k).sum()
    return float(1 - 2 * excess / (num * k * (2 * num - 3 * k - 1)))


def sample_rows(usable: NDArray[np.bool_], seed: int) -> NDArray[np.int64]:
    """Return the usable rows; a sample in order if there are more than MAX_POINTS."""
    rows = np.flatnonzero(usable)
    if len(rows) <= MAX_POINTS:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, MAX_POINTS, replace=False))


def nearest(distances: Floats, k: int) -> NDArray[np.int64]:
    """Return the k nearest other points of each point, [N, k], from distances [N, N]."""
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    nearest: NDArray[np.int64] = np.argsort(others, axis=1, kind="stable")[:, :k]
    return nearest
