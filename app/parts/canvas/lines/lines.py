"""The lines view: one layer's attention between two columns of tokens, on a canvas.

View options (pinning, threshold, filters) stay in the browser. The layer and the heads are
reported back, so that they get into the address and the other views follow. For a long text, only
the heads that are shown are sent; the browser keeps those that it has received while the layer
stays.
"""

import colorsys
import re
import zlib
from dataclasses import replace

import numpy as np

from bertcore.analysis.heads.attention import LayerAttention, count_missing
from bertcore.analysis.shared.inputs import sentence_numbers

from ....plots import theme
from ...component import Component
from ...html_file.document import ScriptedPicture
from ..shared import transport
from ..shared.missing import missing_sentence
from ..shared.view_options import Choices, ViewOptions

COMPONENT = Component("bertscope_attention_view", __file__)

SMALL = 250_000
"""Most weights of a layer for which all its heads are sent, so that they switch without a wait: 12
heads of 144 tokens, about 0.1 MB deflated."""

MOST_WEIGHTS = 5_000_000
"""Up to this many weights, a file contains the lines of all layers; beyond, of one layer."""

DEFAULT_OPTIONS: ViewOptions = {
    "special": False,
    "words": False,
    "mean": False,
    "filter": "all",
    "threshold": None,
    "chosen": "",
}
"""How the view opens: whether special tokens are hidden, words replace pieces, heads are
averaged; between which sentences; the least weight shown (None: by the length of the text); which
tokens are chosen ("l2.5r7": 2 and 5 of the attending ones, on the left, and 7 on the right)."""
OPTION_CHOICES: dict[str, Choices] = {
    "filter": ("all", "0>0", "0>1", "1>0", "1>1"),
    "chosen": re.compile(r"(?=[lr])(l\d{1,5}(\.\d{1,5}){0,99})?(r\d{1,5}(\.\d{1,5}){0,99})?"),
}


def head_colours(num_heads: int) -> list[str]:
    """Return one colour for each head, none twice: our twelve, then evenly spaced hues.

    >>> len(set(head_colours(64)))
    64
    """
    colours = list(theme.CATEGORICAL[:num_heads])
    step = 0
    while len(colours) < num_heads:
        # The golden angle keeps neighbours apart; lightness changes where hues come close again.
        hue, lightness = (step * 137.508) % 360, (0.42, 0.62, 0.32)[step % 3]
        channels = colorsys.hls_to_rgb(hue / 360, lightness, 0.6)
        colour = "#" + "".join(f"{round(255 * channel):02X}" for channel in channels)
        if colour not in colours:
            colours.append(colour)
        step += 1
    return colours


def message(
    shown: LayerAttention, revision: int = 0, options: ViewOptions = DEFAULT_OPTIONS
) -> bytes:
    """Return what the view draws: a layer's heads as N x T x T bytes, NaN as such.

    The heads of `shown` are those shown at first, and the only ones sent if the text is long.
    `revision` is that of the last selection that the view reported; `options`: how it opens.
    """
    num_layers, num_heads = shown.attentions.shape[:2]
    of, heads, tokens = shown.weights, shown.heads, shown.input
    is_small = of.numel() <= SMALL
    sent = list(range(num_heads)) if is_small or not heads else sorted(set(heads))
    weights = of[sent]
    encoded = transport.encode(weights)
    counts = count_missing(weights[None])
    broken = counts[0].nonzero()[0]
    header = {
        "tokens": tokens.tokens,
        "text_ids": tokens.text_ids,
        "starts": tokens.starts,
        "words": tokens.words,
        "look": options,
        "segment_ids": sentence_numbers(tokens.segment_ids, tokens.text_ids),
        "is_pair": tokens.is_pair,
        "layer": shown.layer,
        "num_layers": num_layers,
        "heads": list(heads),
        "sent": sent,
        "broken": [sent[place] for place in broken],
        "missing": missing_sentence(counts, len(tokens.tokens), [shown.layer], sent),
        # Tells the browser whether earlier heads are still valid: another checkpoint may
        # have the same tokens.
        "weights": zlib.crc32(of.float().contiguous().numpy().data),
        "revision": revision,
        "colours": head_colours(num_heads),
        "mean_colour": theme.ACCENT,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
    }
    return transport.pack(
        header,
        transport.Deflated(encoded.codes),
        transport.decoding_table(),
        np.packbits(encoded.missing[broken]),
    )


def part(shown: LayerAttention, options: ViewOptions | None = None) -> ScriptedPicture:
    """Return the lines of all layers for a file, or of one if all would make it too large.

    All heads of a layer are in the file.
    """
    num_layers = len(shown.attentions)
    has_all = shown.attentions.numel() <= MOST_WEIGHTS
    layers = list(range(num_layers)) if has_all else [shown.layer]
    messages = [
        transport.change(
            message(replace(shown, layer=layer, heads=()), 0, options or DEFAULT_OPTIONS),
            heads=list(shown.heads),
            alone=layers,
        )
        for layer in sorted(layers, key=lambda layer: layer != shown.layer)
    ]
    note = "" if has_all else f"This file contains only layer {shown.layer} of {num_layers} layers."
    return COMPONENT.part(*messages, note=note)
