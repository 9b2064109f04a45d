"""Pretraining objectives: how each changes a row of tokens, and the targets.

Each is a pure function of a row and a random generator: the same generator gives the same result,
and no network is needed.
"""

from bertcore.base.public import imported
from bertcore.model.objectives.attention_masks import (
    DIRECTIONS,
    Direction,
    Permutation,
    allowed,
    causal,
    permute,
    unilm,
)
from bertcore.model.objectives.denoising import (
    bart_deletion,
    bart_infilling,
    bart_masking,
    bart_noise,
    bart_rotation,
    bart_sentences,
    mass,
    t5_noise,
    t5_num_spans,
    t5_spans,
)
from bertcore.model.objectives.masked_words import (
    mask_pieces,
    mask_spans,
    mask_whole_words,
    sample,
    span_lengths,
)
from bertcore.model.objectives.row import ACTIONS, IGNORED, SHARE, Corrupted, Pieces, Row
from bertcore.model.objectives.table import OBJECTIVES, Objective

__all__ = imported(globals())
