"""Comparison of two maps of the same points, such as those of two seeds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import are_copies, nearest, sample_rows
from bertcore.analysis.space.projection import LayerMap, align


@dataclass(frozen=True, slots=True, eq=False)
class SeedAgreement:
    """A second map laid over the first, and how far they agree in each layer."""

    second: NDArray[np.float32]
    """The second map rotated and mirrored to match the first, [L+1, N, dims]; never scaled."""
    moved: NDArray[np.float64]
    """Distance of each point's two places, [L+1, N], in radii of the layer's first map (root mean
    square distance from its centre): 0 the same place, about 1.4 unrelated. NaN where the point
    has no place."""
    kept: NDArray[np.float64]
    """Fraction of a point's k nearest neighbours in the first map that are also its nearest in the
    second, [L+1]. Of points that share their place in both maps, one counts."""
    chance: float
    """The fraction that unrelated maps would share."""
    k: int
    """Size of the neighbourhood; 0 where there are too few points (`kept` is NaN then)."""


def seed_agreement(first: LayerMap, second: LayerMap, *, k: int = 10) -> SeedAgreement:
    """Compare two maps of the same N points.

    Args:
        first, second: Maps of the same vectors, by the same method, with different seeds. Joint
            maps are rotated as a whole, separate ones layer by layer.
        k: Size of the neighbourhood; lowered to less than half the points.

    ValueError if the maps differ in their number of layers, points or dimensions.

    Source: orthogonal Procrustes alignment (Schoenemann 1966), as in scipy.spatial.procrustes but
        without scaling.
    """
    if first.coordinates.shape != second.coordinates.shape or first.space != second.space:
        raise ValueError(
            f"the maps have shapes {first.coordinates.shape} ({first.space}) and "
            f"{second.coordinates.shape} ({second.space}); expected two maps of the same points."
        )
    finite = np.isfinite(first.coordinates).all((0, 2)) & np.isfinite(second.coordinates).all(
        (0, 2)
    )
    ones = first.coordinates[:, finite].astype(np.float64)
    twos = second.coordinates[:, finite].astype(np.float64)
    dims = ones.shape[-1]
    if first.space == "separate":
        laid = np.stack(
            [align(two, one) + one.mean(0) for one, two in zip(ones, twos, strict=True)]
        )
    else:
        whole = ones.reshape(-1, dims)
        laid = (align(twos.reshape(-1, dims), whole) + whole.mean(0)).reshape(ones.shape)
    radius = np.sqrt(((ones - ones.mean(1, keepdims=True)) ** 2).sum(-1).mean(1))[:, None]
    distance = np.linalg.norm(laid - ones, axis=-1)
    moved = np.full(first.coordinates.shape[:2], np.nan)
    moved[:, finite] = np.divide(distance, radius, out=np.zeros_like(distance), where=radius > 0)
    turned = np.full(first.coordinates.shape, np.nan, dtype=np.float32)
    turned[:, finite] = laid
    kept, chance, k = _kept_neighbours(ones, twos, k)
    return SeedAgreement(turned, moved, kept, chance, k)


def _kept_neighbours(
    ones: NDArray[np.float64], twos: NDArray[np.float64], k: int
) -> tuple[NDArray[np.float64], float, int]:
    from sklearn.metrics import pairwise_distances

    rows = sample_rows(np.ones(ones.shape[1], dtype=bool), 0)
    places = np.concatenate([*ones[:, rows], *twos[:, rows]], axis=1)
    rows = rows[~are_copies(places)]
    k = min(k, (len(rows) - 1) // 2)
    if k < 1:
        return np.full(len(ones), np.nan), np.nan, 0
    kept = np.empty(len(ones))
    for layer, (one, two) in enumerate(zip(ones[:, rows], twos[:, rows], strict=True)):
        near, near_then = (nearest(pairwise_distances(each), k) for each in (one, two))
        kept[layer] = (near[:, :, None] == near_then[:, None, :]).sum() / near.size
    return kept, k / (len(rows) - 1), k
