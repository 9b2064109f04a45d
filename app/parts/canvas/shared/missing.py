"""The sentence about weights that are not numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_HEADS = 12  # most heads that are named


def missing_sentence(
    counts: NDArray[np.int64],
    num_tokens: int,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
) -> str:
    """Return how many weights are not numbers and in which heads; empty if all are numbers.

    Args:
        counts: From `count_missing`, [L, H].
        num_tokens: T.
        layers, heads: Numbers of the rows and columns of `counts`; from 0 if not given.
    """
    layers, heads = layers or range(counts.shape[0]), heads or range(counts.shape[1])
    broken = [f"layer {layers[row]} head {heads[column]}" for row, column in np.argwhere(counts)]
    if not broken:
        return ""
    more = len(broken) - MOST_HEADS
    listed = ", ".join(broken[:MOST_HEADS]) + (f" and {more} more" if more > 0 else "")
    return (
        f"{counts.sum():,} of {counts.size * num_tokens**2:,} weights are not numbers (NaN), in "
        f"{listed}. The checkpoint's weights are damaged."
    )
