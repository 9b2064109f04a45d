"""The heat map: one head, or the mean of several heads and layers, on a canvas that zooms.

It gets the weights as float32, so that the numbers are exact. Order, zoom and the level (pieces or
words) stay in the browser. Layers and heads are reported back: the mean is taken here.
"""

import re
from typing import TypedDict

import numpy as np

from bertcore.analysis.heads.attention import AttentionMap

from ....plots import theme
from ...component import Component
from ...html_file.document import ScriptedPicture
from ..overview.overview import colour_table
from ..shared import transport
from ..shared.missing import missing_sentence
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
HOW = (
    "Each row's token attends to the columns' tokens; each row sums to 1.\n\n"
    "Brightness follows the square root of the weight, so that small weights are visible too; the "
    "numbers are the weights. The wheel zooms, dragging pans, and a double-click shows the whole "
    "map; a click marks a row and a column, by which the other can be sorted. A bright cell shows "
    "that information was taken from there, not that it decided anything."
)


class Selection(TypedDict):
    """What the visitor chose in the view."""

    layers: list[int]
    """At least one."""
    heads: list[int]
    """Empty for all heads."""
    revision: int
    """Counts the visitor's choices; sent back, so that the view ignores an older echo."""


def message(
    shown: AttentionMap, revision: int = 0, options: ViewOptions = DEFAULT_OPTIONS
) -> bytes:
    """Return what the view draws: T x T weights, NaN as such, and the tokens.

    `revision` is that of the last selection that the view reported; `options`: how it opens.
    """
    tokens, heads = shown.input, sorted({*shown.heads}) or list(range(shown.num_heads))
    header = {
        "tokens": tokens.tokens,
        "text_ids": tokens.text_ids,
        "segment_ids": tokens.segment_ids,
        "starts": tokens.starts,
        "words": tokens.words,
        "is_pair": tokens.is_pair,
        "title": shown.title,
        "unit": shown.unit,
        "verb": shown.verb,
        "layers": list(shown.layers),
        "heads": list(shown.heads),
        "num_layers": shown.num_layers,
        "num_heads": shown.num_heads,
        "missing": missing_sentence(shown.num_missing, len(tokens.tokens), shown.layers, heads),
        "revision": revision,
        "look": options,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
    }
    return transport.pack(header, shown.values.astype(np.float32), colour_table())


def part(shown: AttentionMap, options: ViewOptions | None = None) -> ScriptedPicture:
    """Return a map for a file."""
    drawn = message(shown, 0, options or DEFAULT_OPTIONS)
    return COMPONENT.part(transport.change(drawn, alone=list(shown.layers)))
