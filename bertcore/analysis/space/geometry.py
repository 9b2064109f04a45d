"""Geometry of the vectors of each layer: anisotropy, a word's self-similarity, cosines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


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
    num_points: int
    """Points without NaN or infinity."""

    @property
    def corrected(self) -> NDArray[np.float64]:
        """Self-similarity minus anisotropy, [L+1]: how much of a word its context leaves."""
        corrected: NDArray[np.float64] = self.same_word - self.any_pair
        return corrected


def geometry(vectors: Floats, words: Sequence[str]) -> Geometry:
    """Measure the geometry of the vectors of each layer, [L+1, N, D]; not finite ones are left out.

    ValueError if no point is finite.

    Source: Ethayarajh 2019, "How Contextual are Contextualized Word Representations?", section 3.3;
        but with all pairs instead of a sample.
    """
    finite = np.isfinite(vectors).all((0, 2))
    if not finite.any():
        raise ValueError("every vector holds NaN or infinity, so there is nothing to measure.")
    groups = _Groups(np.asarray(words, dtype=str)[finite])
    repeats = groups.counts > 1
    any_pair, same_word = (np.full(len(vectors), np.nan) for _ in range(2))
    for layer, points in enumerate(vectors):
        units = _units(points[finite].astype(np.float64))
        if groups.num_pairs:
            any_pair[layer] = groups.product(units) / groups.num_pairs
        if repeats.any():
            same_word[layer] = groups.within(units)[repeats].mean()
    return Geometry(any_pair, same_word, int(repeats.sum()), int(finite.sum()))


def cosines(first: Floats, second: Floats) -> NDArray[np.float64]:
    """Return the cosine of two vectors [L+1, D] at each layer, [L+1].

    0 where one of the two is 0, NaN where one holds NaN or infinity.
    """
    with np.errstate(invalid="ignore"):  # infinity over infinity
        units = [_units(np.asarray(one, dtype=np.float64)) for one in (first, second)]
    found: NDArray[np.float64] = (units[0] * units[1]).sum(1)
    return found


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

    def product(self, units: NDArray[np.float64]) -> float:
        """Return the sum of the cosines of all pairs of different words."""
        sums = np.add.reduceat(units[self.order], self.starts)
        return float((units.sum(0) ** 2 - (sums**2).sum(0)).sum())

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
