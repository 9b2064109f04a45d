"""Attention between words, worked out apart from the browser."""

import numpy as np
from numpy.typing import NDArray


def merge_to_words(weights: NDArray[np.float32], starts: list[int]) -> NDArray[np.float32]:
    """Return the attention between words: sum over attended pieces, mean over attending ones.

    Args:
        weights: [..., T, T]; rows sum to 1.
        starts: The first token of each of the W words.

    Returns:
        [..., W, W]; rows still sum to 1.

    Source: Clark et al. 2019, section 4.1.
    """
    lengths = np.diff([*starts, weights.shape[-1]])
    columns = np.add.reduceat(weights, starts, axis=-1)
    merged: NDArray[np.float32] = np.add.reduceat(columns, starts, axis=-2)
    return np.divide(merged, lengths[:, None], dtype=np.float32)
