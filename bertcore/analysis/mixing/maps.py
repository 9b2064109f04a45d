"""Shared operations on token-mixing maps: row normalisation, column sums, rank agreement.

A map is [..., T, T]: row = receiving token, column = giving token.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def normalize_rows(maps: Tensor) -> Tensor:
    """Return maps [..., T, T] of numbers >= 0 with each row divided by its sum.

    A row of zeros stays zero.
    """
    sums = maps.sum(-1, keepdim=True)
    return maps / torch.where(sums > 0, sums, torch.ones_like(sums))


def fraction_on(maps: Tensor, columns: Sequence[int]) -> Tensor:
    """Return the fraction of the chosen columns in a row, averaged over the rows, [...].

    Args:
        maps: [..., T, T], numbers >= 0.
        columns: Positions, any number of them.
    """
    return normalize_rows(maps)[..., list(columns)].sum(-1).mean(-1)


def rank_agreement(maps: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Return Spearman's rank correlation of each pair of maps, averaged over the rows, [M, M].

    1: both put the tokens in the same order; 0: nothing in common; -1: in the opposite order. Rows
    in which a map gives all tokens the same value are left out; NaN if none is left.

    Args:
        maps: M arrays, each [R, T]: the same R rows of each map.

    Source: Spearman 1904, with mean ranks for ties (scipy.stats.rankdata); per row, as rows of
        one map have sums of their own.
    """
    from scipy.stats import rankdata

    # [M, R, T] -> centred ranks of unit length, so that a product is a correlation
    ranks = rankdata(np.asarray(maps, dtype=np.float64), axis=-1)
    centred = ranks - ranks.mean(-1, keepdims=True)
    length = np.linalg.norm(centred, axis=-1, keepdims=True)
    unit = np.divide(centred, length, out=np.full_like(centred, np.nan), where=length > 0)
    correlations = np.einsum("mrt,nrt->mnr", unit, unit)  # [M, M, R]
    counted = np.isfinite(correlations).sum(-1)
    sums = np.nansum(correlations, axis=-1)
    agreement: NDArray[np.float64] = np.full_like(sums, np.nan)
    np.divide(sums, counted, out=agreement, where=counted > 0)
    return agreement
