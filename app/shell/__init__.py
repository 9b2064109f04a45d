"""The frame of every page: state, cache, sidebar, text box, downloads, errors."""

from . import hidden
from .cache import Texts
from .controls import LAST_SEED, draw_again, one_of, pick
from .jobs import background, waiting
from .jobs.background import Job, Progress, Work
from .jobs.compute import Compute
from .links import open_page
from .pictures.show import caption, computed, how_to_read, is_available, offer, show
from .sentence_box import TEXT_A, TEXT_B, texts
from .state import Field
from .uploads.source import UploadSource

__all__ = [
    "LAST_SEED",
    "TEXT_A",
    "TEXT_B",
    "Compute",
    "Field",
    "Job",
    "Progress",
    "Texts",
    "UploadSource",
    "Work",
    "background",
    "caption",
    "computed",
    "draw_again",
    "hidden",
    "how_to_read",
    "is_available",
    "offer",
    "one_of",
    "open_page",
    "pick",
    "show",
    "texts",
    "waiting",
]
