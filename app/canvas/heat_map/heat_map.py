"""The heat map: one head, or the mean of several heads and layers, on a canvas that zooms.

It gets the weights as float32, so that the numbers are exact. Order, zoom and the level (pieces or
words) stay in the browser. Layers and heads are reported back: the mean is taken here.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from bertcore import Trace

from ...component import Component
from ...html_file.document import ScriptedPicture
from ...plots import theme
from ..overview.overview import colour_table
from ..shared import transport
from ..shared.attention_data import count_missing, mean_weights, missing_sentence, words_of
from ..shared.view_options import ViewOptions

COMPONENT = Component("bertscope_attention_map", __file__)

DEFAULT_OPTIONS: ViewOptions = {"rows": "text", "columns": "text", "words": False, "seen": ""}
"""How the map opens: the order of rows and columns, whether words replace pieces, and
what is seen of it: the first row, the first column, and cells on a side; "" for all."""
OPTION_CHOICES = {
    "rows": ("text", "chosen", "entropy"),
    "columns": ("text", "chosen", "received"),
    "seen": re.compile(r"\d{1,5}(\.\d)?(-\d{1,5}(\.\d)?){2}"),
}


class Mapped(NamedTuple):
    """A map, and what it is called."""

    weights: NDArray[np.float32]
    """[T, T]; row = the attending token. May contain NaN, which is shown as such."""
    title: str
    unit: str = "weight"
    verb: str = "attends to"
    """What the row's token does, before the column's."""


class Selection(TypedDict):
    """What the visitor chose in the view."""

    layers: list[int]
    """At least one."""
    heads: list[int]
    """Empty for all heads."""
    revision: int
    """Counts the visitor's choices; sent back, so that the view ignores an older echo."""


def message(
    trace: Trace,
    mapped: Mapped,
    layers: Sequence[int],
    heads: Sequence[int],
    revision: int = 0,
    options: ViewOptions = DEFAULT_OPTIONS,
) -> bytes:
    """Return what the view draws: T x T weights and the tokens.

    Args:
        trace: One text or pair of T tokens.
        mapped: The map.
        layers, heads: Whose mean it is; no heads for all.
        revision: Of the last selection that the view reported.
        options: How it opens.
    """
    words = words_of(trace)
    header = {
        "tokens": list(trace.tokens),
        "text_ids": list(trace.text_ids),
        "segment_ids": list(trace.segment_ids),
        "starts": words.starts,
        "words": words.names,
        "is_pair": 1 in trace.text_ids,
        "title": mapped.title,
        "unit": mapped.unit,
        "verb": mapped.verb,
        "layers": list(layers),
        "heads": list(heads),
        "num_layers": trace.attentions.shape[0],
        "num_heads": trace.attentions.shape[1],
        "missing": _missing(trace, layers, heads),
        "revision": revision,
        "look": options,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
    }
    return transport.pack(header, mapped.weights.astype(np.float32), colour_table())


def _missing(trace: Trace, layers: Sequence[int], heads: Sequence[int]) -> str:
    """Name the heads of the mean whose weights are not numbers."""
    averaged = sorted(set(heads)) or list(range(trace.attentions.shape[1]))
    counts = count_missing(trace.attentions[list(layers)])[:, averaged]
    return missing_sentence(counts, trace.num_tokens, layers, averaged)


def part(
    trace: Trace,
    layers: Sequence[int],
    heads: Sequence[int],
    options: ViewOptions | None = None,
    mapped: Mapped | None = None,
) -> ScriptedPicture:
    """Return a map for a file: of one head or a mean, if no other is given; no heads for all."""
    mapped = mapped or Mapped(*mean_weights(trace, layers, heads))
    drawn = message(trace, mapped, layers, heads, 0, options or DEFAULT_OPTIONS)
    return COMPONENT.part(transport.change(drawn, alone=list(layers)))
