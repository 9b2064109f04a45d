"""Geometry of the vectors of each layer: anisotropy, rogue dimensions, a word's self-similarity,
lengths and intrinsic dimension."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

NUM_ROGUE = 5
"""Dimensions whose share of the mean cosine is reported."""
MIN_POINTS = 20
"""With fewer distinct points the intrinsic dimension is NaN."""
MAX_NEIGHBOURS_OF = 2000
"""Points whose nearest neighbours are searched; if there are more, a random sample with a seed."""
DISCARDED = 0.1
"""Fraction of points, those with the largest ratio, left out of the TwoNN fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Measures of N vectors at each of L+1 layers; each [L+1] where no shape is given."""

    any_pair: NDArray[np.float64]
    """Anisotropy: mean cosine over all pairs of different words. 0: all directions are used, 1: a
    single one. NaN with one word."""
    same_word: NDArray[np.float64]
    """Self-similarity: mean cosine of a word's occurrences, mean over the words; NaN where no word
    repeats."""
    num_words: int
    """Number of words that repeat."""
    rogue: NDArray[np.int64]
    """The dimensions with the largest part in `any_pair`, the largest first, [L+1, R]."""
    rogue_share: NDArray[np.float64]
    """Their fractions of `any_pair`, [L+1, R]; NaN where that is 0 or less."""
    length: NDArray[np.float64]
    """Euclidean length of the vectors: 10th, 50th and 90th percentile, [3, L+1]."""
    intrinsic_dimension: NDArray[np.float64]
    """From nearest neighbours (`two_nn`); NaN with fewer than MIN_POINTS distinct points."""
    num_points: int
    """Points without NaN or infinity."""

    @property
    def corrected(self) -> NDArray[np.float64]:
        """Self-similarity minus anisotropy, [L+1]: how much of a word its context leaves."""
        corrected: NDArray[np.float64] = self.same_word - self.any_pair
        return corrected


def geometry(vectors: Floats, words: Sequence[str], *, seed: int = 0) -> Geometry:
    """Measure the geometry of the vectors of each layer.

    Args:
        vectors: [L+1, N, D]; points that are not finite are left out.
        words: The word of each point.
        seed: Draws MAX_NEIGHBOURS_OF points for the intrinsic dimension if there are more.

    ValueError if no point is finite.

    Source: Ethayarajh 2019, "How Contextual are Contextualized Word Representations?", section 3.3;
        but with all pairs instead of a sample. Rogue dimensions: Timkey and van Schijndel 2021,
        equation 3. Intrinsic dimension: see `two_nn`.
    """
    finite = np.isfinite(vectors).all((0, 2))
    if not finite.any():
        raise ValueError("every vector holds NaN or infinity, so there is nothing to measure.")
    groups = _Groups(np.asarray(words, dtype=str)[finite])
    repeats = groups.counts > 1
    num_layers, width = len(vectors), vectors.shape[-1]
    num_rogue = min(NUM_ROGUE, width)
    any_pair, same_word, dimension = (np.full(num_layers, np.nan) for _ in range(3))
    rogue = np.zeros((num_layers, num_rogue), dtype=np.int64)
    share, length = np.full((num_layers, num_rogue), np.nan), np.empty((3, num_layers))
    for layer in range(num_layers):
        points = vectors[layer, finite].astype(np.float64)
        lengths = np.linalg.norm(points, axis=1)
        length[:, layer] = np.percentile(lengths, [10, 50, 90])
        units = _units(points)
        by_dimension = groups.products(units)
        if groups.num_pairs:
            any_pair[layer] = by_dimension.sum() / groups.num_pairs
            rogue[layer] = np.argsort(-by_dimension, kind="stable")[:num_rogue]
            if by_dimension.sum() > 0:
                share[layer] = by_dimension[rogue[layer]] / by_dimension.sum()
        if repeats.any():
            same_word[layer] = groups.within(units)[repeats].mean()
        dimension[layer] = two_nn(points, seed=seed)
    return Geometry(
        any_pair, same_word, int(repeats.sum()), rogue, share, length, dimension, int(finite.sum())
    )


def cosines(first: Floats, second: Floats) -> NDArray[np.float64]:
    """Return the cosine of two vectors at each layer.

    Args:
        first, second: [L+1, D].

    Returns:
        [L+1]; 0 where one of the two is 0, NaN where one holds NaN or infinity.
    """
    with np.errstate(invalid="ignore"):  # infinity over infinity
        units = [_units(np.asarray(one, dtype=np.float64)) for one in (first, second)]
    found: NDArray[np.float64] = (units[0] * units[1]).sum(1)
    return found


def without_rogue(vectors: Floats, words: Sequence[str], num: int) -> NDArray[np.float32]:
    """Return vectors [L+1, N, D] whose `num` rogue dimensions of each layer are 0.

    Args:
        vectors: [L+1, N, D].
        words: The word of each point.
        num: 0 to NUM_ROGUE.

    ValueError if `num` is out of range or no point is finite.
    """
    if not 0 <= num <= NUM_ROGUE:
        raise ValueError(f"num is {num}; expected 0 to {NUM_ROGUE}.")
    finite = np.isfinite(vectors).all((0, 2))
    if not finite.any():
        raise ValueError("every vector holds NaN or infinity, so there is nothing to measure.")
    off = np.array(vectors, dtype=np.float32)
    groups = _Groups(np.asarray(words, dtype=str)[finite])
    for layer in range(len(off) if num and groups.num_pairs else 0):
        products = groups.products(_units(off[layer, finite].astype(np.float64)))
        off[layer][:, np.argsort(-products, kind="stable")[:num]] = 0
    return off


class _Groups:
    """The points of each word. The cosines of all pairs of n unit vectors sum to |sum|^2 - n, so no
    N x N matrix is needed.
    """

    def __init__(self, names: NDArray[np.str_]) -> None:
        _, groups = np.unique(names, return_inverse=True)
        self.counts = np.bincount(groups).astype(np.int64)
        self.order = np.argsort(groups, kind="stable")
        self.starts = np.flatnonzero(np.diff(groups[self.order], prepend=-1))
        self.num_pairs = len(groups) ** 2 - int((self.counts**2).sum())
        """Ordered pairs of different words."""

    def products(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over all pairs of different words of each dimension's product, [D]."""
        sums = np.add.reduceat(units[self.order], self.starts)
        products: NDArray[np.float64] = units.sum(0) ** 2 - (sums**2).sum(0)
        return products

    def within(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean cosine of each word's occurrences, [words]; 0 where it has one."""
        sums = np.add.reduceat(units[self.order], self.starts)
        own = np.add.reduceat((units[self.order] ** 2).sum(1), self.starts)
        pairs = self.counts * (self.counts - 1)
        means: NDArray[np.float64] = ((sums**2).sum(1) - own) / np.maximum(pairs, 1)
        return means


def _units(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points [N, D] scaled to length 1; 0 stays 0."""
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    units: NDArray[np.float64] = np.divide(
        points, lengths, out=np.zeros_like(points), where=lengths != 0
    )
    return units


def two_nn(points: Floats, *, seed: int = 0) -> float:
    """Return the intrinsic dimension of points [N, D], from their two nearest neighbours.

    The ratio mu of the distances to the second and to the first neighbour has the distribution
    1 - mu^-d where the density is about constant over so small a neighbourhood; d is the slope
    through the origin of -log(1 - F(mu)) over log(mu).

    Args:
        points: The points; equal ones count once.
        seed: Draws MAX_NEIGHBOURS_OF points where there are more.

    Returns:
        d; NaN with fewer than MIN_POINTS distinct points.

    Source: Facco et al. 2017, "Estimating the intrinsic dimension of datasets by a minimal
        neighborhood information"; as there, the largest tenth of the ratios is left out.
    """
    from sklearn.neighbors import NearestNeighbors

    distinct = np.unique(np.asarray(points, dtype=np.float64), axis=0)
    if len(distinct) > MAX_NEIGHBOURS_OF:
        chosen = np.random.default_rng(seed).choice(len(distinct), MAX_NEIGHBOURS_OF, replace=False)
        distinct = distinct[chosen]
    if len(distinct) < MIN_POINTS:
        return float("nan")
    near = NearestNeighbors(n_neighbors=2).fit(distinct).kneighbors(return_distance=False)
    # The search computes distances from products, which round those of very close points to 0.
    distances = np.linalg.norm(distinct[near] - distinct[:, None], axis=2)
    distances.sort(axis=1)
    return slope_of_ratios(distances[:, 1] / distances[:, 0])


def slope_of_ratios(ratios: Floats) -> float:
    """Return the intrinsic dimension from the ratios of distances [N], each at least 1."""
    num = len(ratios)
    kept = num - max(1, int(num * DISCARDED))
    logs = np.log(np.sort(ratios))[:kept]
    heights = -np.log(1 - np.arange(1, kept + 1) / num)
    squares = float((logs**2).sum())
    return float((logs * heights).sum()) / squares if squares else float("nan")
