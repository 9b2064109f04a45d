"""Unigram entropy: the loss of a model that knows word frequencies alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 2**20


def unigram_entropy(ids: NDArray[np.generic], vocab_size: int) -> float:
    """Return the entropy of the tokens' frequencies, nats.

    At this masked-word loss, the model predicts frequent words whatever the context: the plateau
    that small BERTs have to leave.

    Args:
        ids: Token ids of a corpus without special tokens, below `vocab_size`, [N]; may be
            memory-mapped, and is read in blocks.
        vocab_size: V.

    Raises:
        ValueError: If there is no token.

    >>> round(unigram_entropy(np.array([7, 7, 8, 8]), 10), 4)  # two equally frequent words: ln 2
    0.6931
    """
    if not len(ids):
        raise ValueError("the corpus has no token, so it has no word frequencies.")
    counts = np.zeros(vocab_size, dtype=np.int64)
    for start in range(0, len(ids), _BLOCK):
        counts += np.bincount(ids[start : start + _BLOCK].astype(np.int64), minlength=vocab_size)
    frequencies = counts[counts > 0] / len(ids)
    return float(-(frequencies * np.log(frequencies)).sum())
