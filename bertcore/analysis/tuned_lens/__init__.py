"""The tuned lens for masked words: one affine map per layer, fitted on a text, before the head."""

from bertcore.analysis.tuned_lens.fit import TunedLensSettings, fit_tuned_lens
from bertcore.analysis.tuned_lens.tuned import (
    FILE_NAME,
    LensGain,
    LensQuality,
    TunedLens,
    cache_place,
    find_tuned_lens,
    place_to_save,
    read_tuned_lens,
    save_tuned_lens,
)
from bertcore.base.public import imported

__all__ = imported(globals())
