"""Activation patching: how much of a minimal pair's difference each hidden state carries."""

from bertcore.analysis.patching.states import (
    REGIONS,
    Answer,
    Direction,
    PairsPatched,
    Patched,
    PatchPair,
    PatchText,
    bundled_texts,
    common_masks,
    patch,
    patch_pair,
    patch_pairs,
    telling_token,
    word_answer,
)
from bertcore.base.public import imported

__all__ = imported(globals())
