"""The overview: all heads of all layers as small pictures, from which the visitor picks one."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.heads.attention import AttentionOverview

from ....plots import BERT, SpecialTokens, own_text, theme
from ...component import Component
from ...html_file.document import ScriptedPicture
from ..shared import transport
from ..shared.missing import missing_sentence
from ..shared.view_options import ViewOptions

COMPONENT = Component("bertscope_attention_overview", __file__)


class Name(NamedTuple):
    """Name and unit of a measure."""

    label: str
    unit: str = "fraction"
    """"fraction" for a part of the attention, else a word, or nothing."""
    habit: bool = False
    """Whether it is a kind of token that all tokens may attend to."""


NAMES = {
    "to_previous": Name("token before", habit=True),
    "to_next": Name("token after", habit=True),
    "to_self": Name("itself", habit=True),
    "to_first": Name("[CLS]", habit=True),
    "to_separator": Name("[SEP]", habit=True),
    "to_same_word": Name("same word", habit=True),
    "to_punctuation": Name("punctuation", habit=True),
    "a_to_b": Name("A to B"),
    "b_to_a": Name("B to A"),
    "evenness": Name("evenness", ""),
    "entropy": Name("entropy", "nats"),
    "entropy_first": Name("entropy of [CLS]", "nats"),
    "distance": Name("distance", "tokens"),
}
"""The measures in the order in which they are shown."""

DEFAULT_OPTIONS: ViewOptions = {"measure": "", "order": "place", "lowest": False, "limit": None}
"""How the overview opens: no measure, layer by layer. `limit`: heads below it are dimmed (above
it, if the lowest come first)."""
OPTION_CHOICES = {"measure": tuple(NAMES), "order": ("place", "layer", "all")}


@lru_cache(maxsize=1)
def colour_table() -> NDArray[np.uint8]:
    """Return our sequential scale as 256 colours, red, green and blue, uint8 [256, 3]."""
    return theme.sampled(theme.SEQUENTIAL, 256)


def message(
    shown: AttentionOverview,
    layer: int = 0,
    heads: Sequence[int] = (),
    options: ViewOptions = DEFAULT_OPTIONS,
    marks: SpecialTokens = BERT,
) -> bytes:
    """Return what the overview draws; `marks`: what the checkpoint calls [CLS] and [SEP].

    Of the open layer `heads` are open, empty for all; `options`: how it opens.
    """
    small, measures = transport.encode(shown.thumbnails), shown.measures
    num_layers, num_heads, size = small.codes.shape[:3]
    broken = np.flatnonzero(shown.num_missing)
    names = {
        name: named._replace(label=own_text(named.label, marks)) for name, named in NAMES.items()
    }
    header = {
        "num_layers": num_layers,
        "num_heads": num_heads,
        "num_tokens": shown.num_tokens,
        "size": size,
        "layer": layer,
        "heads": list(heads),
        "look": options,
        "names": {name: described._asdict() for name, described in names.items()},
        "measures": {name: _rounded(getattr(measures, name)) for name in names},
        "broken": broken.tolist(),
        "missing": missing_sentence(shown.num_missing, shown.num_tokens),
    }
    return transport.pack(
        header,
        small.codes,
        colour_table(),
        transport.decoding_table(),
        np.packbits(small.missing.reshape(-1, size, size)[broken]),
    )


def _rounded(values: Tensor) -> list[float | None]:
    return [None if math.isnan(v) else round(v, 5) for v in values.flatten().tolist()]


def part(
    shown: AttentionOverview,
    layer: int = 0,
    heads: Sequence[int] = (),
    options: ViewOptions | None = None,
    marks: SpecialTokens = BERT,
) -> ScriptedPicture:
    """Return all heads as small pictures with their measures for a file; see `message`."""
    drawn = message(shown, layer, heads, options or DEFAULT_OPTIONS, marks)
    return COMPONENT.part(transport.change(drawn, alone=[]))
