"""Debiasing in training: swapped words, weights by a column, a penalty on a direction.

Measures of its effect are in `bertcore.bias`, which is a layer above training.
"""

from bertcore.base.public import imported
from bertcore.debiasing.direction_penalty import PenalisedDirection
from bertcore.debiasing.swap_words import Change, Swapped, WordSwap, swap_words
from bertcore.debiasing.word_sets import (
    Augmenter,
    Swapping,
    direction_pairs,
    probe_pairs,
    read_pairs,
    swap_document,
    swap_pairs,
    swap_sets,
)

__all__ = imported(globals())
