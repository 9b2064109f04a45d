"""Attention between words instead of word pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore import Trace


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an input of T tokens; an added special token counts as one word."""

    starts: list[int]
    """The first token of each of the W words, ascending from 0."""
    names: list[str]
    """As written in the text; an added special token has its own name."""


def words_of(trace: Trace) -> Words:
    """Return the words that the tokens of a trace belong to."""
    starts = [
        place
        for place, word in enumerate(trace.word_ids)
        if place == 0 or word < 0 or word != trace.word_ids[place - 1]
    ]
    ends = [*starts[1:], trace.num_tokens]
    names = [trace.word_text(start, end) for start, end in zip(starts, ends, strict=True)]
    return Words(starts, names)


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
