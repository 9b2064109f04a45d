"""Activation patching: how much of a minimal pair's difference each activation carries."""

from bertcore.analysis.patching.answers import (
    Answer,
    class_answer,
    common_masks,
    telling_token,
    word_answer,
)
from bertcore.analysis.patching.many import (
    REASONS,
    REGIONS,
    LeftOut,
    ManyPatched,
    PatchText,
    bundled_texts,
    patch_texts,
    read_texts,
)
from bertcore.analysis.patching.pair import PatchPair, patch_pair
from bertcore.analysis.patching.patch import (
    DIRECTIONS,
    PARTS,
    Direction,
    Part,
    Patched,
    PathPatched,
    Place,
    patch,
    patch_path,
)
from bertcore.base.public import imported

__all__ = imported(globals())
