"""Pretraining objectives: how each changes a row of tokens, and the targets.

Each is a pure function of a row and a random generator: the same generator gives the same result,
and no network is needed.
"""

from bertcore.base.public import imported
from bertcore.objectives.attention_masks import (
    DIRECTIONS,
    Direction,
    Permutation,
    allowed,
    causal,
    permute,
    unilm,
)
from bertcore.objectives.denoising import (
    bart_deletion,
    bart_infilling,
    bart_masking,
    bart_noise,
    bart_rotation,
    bart_sentences,
    mass,
    t5_lengths,
    t5_noise,
    t5_num_spans,
    t5_spans,
)
from bertcore.objectives.masked_words import (
    Boundary,
    Replaced,
    boundaries,
    hide_for_generator,
    mask_pieces,
    mask_spans,
    mask_whole_words,
    replace,
    sample,
    span_lengths,
)
from bertcore.objectives.row import ACTIONS, IGNORED, SHARE, Corrupted, Pieces, Row
from bertcore.objectives.table import OBJECTIVES, Objective

__all__ = imported(globals())
