"""Our attention views as parts of a file: the bundle of the component and its messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from torch import Tensor

from bertcore import Trace

from ..bundle import Bundle
from ..html_file.document import Part
from ..plots.special_tokens import BERT, Marks
from .heat_map import heat_map
from .lines import lines
from .neurons import neurons
from .overview import overview
from .shared import transport
from .shared.attention_data import mean_weights
from .shared.view_options import ViewOptions

MOST_WEIGHTS = 5_000_000
"""Up to this many weights, a file contains the lines of all layers; beyond, of one layer."""


def lines_part(
    trace: Trace, layer: int, heads: Sequence[int] = (), options: ViewOptions | None = None
) -> Part:
    """Return the lines of all layers, or of one if all would make the file too large.

    Args:
        trace: One text or pair.
        layer, heads: Shown at first; no heads for all. All heads of a layer are in the file.
        options: How the view opens.
    """
    num_layers = len(trace.attentions)
    has_all = trace.attentions.numel() <= MOST_WEIGHTS
    here = list(range(num_layers)) if has_all else [layer]
    order = sorted(here, key=lambda one: one != layer)
    messages = [
        transport.change(
            lines.message(trace, one, [], 0, options or lines.DEFAULT_OPTIONS),
            heads=list(heads),
            alone=here,
        )
        for one in order
    ]
    note = "" if has_all else f"This file contains only layer {layer} of {num_layers} layers."
    return part_of_bundle(lines.COMPONENT.bundle, messages, note)


def heat_map_part(
    trace: Trace, layers: Sequence[int], heads: Sequence[int], options: ViewOptions | None = None
) -> Part:
    """Return the map of one head or of a mean; no heads for all."""
    weights, title = mean_weights(trace, layers, heads)
    options = options or heat_map.DEFAULT_OPTIONS
    message = heat_map.message(trace, weights, title, layers, heads, 0, options)
    return part_of_bundle(
        heat_map.COMPONENT.bundle, [transport.change(message, alone=list(layers))]
    )


def neurons_part(
    trace: Trace,
    layer: int,
    head: int,
    options: ViewOptions | None = None,
    allowed: Tensor | None = None,
) -> Part:
    """Return the queries, keys, scores and weights of one head.

    Args:
        allowed: The mask of the layer, of `allowed_keys`; None: there is none, or it is not known.
    """
    options = options or neurons.DEFAULT_OPTIONS
    message = neurons.message(trace, layer, head, 0, options, allowed)
    return part_of_bundle(neurons.COMPONENT.bundle, [transport.change(message, alone=[layer])])


def overview_part(
    trace: Trace,
    layer: int,
    heads: Sequence[int] = (),
    options: ViewOptions | None = None,
    marks: Marks = BERT,
    *,
    is_causal: bool = False,
) -> Part:
    """Return all heads as small pictures with their measures; see `summary_of`."""
    summary = overview.summary_of(trace, marks, is_causal=is_causal)
    options = options or overview.DEFAULT_OPTIONS
    message = overview.message(summary, trace.num_tokens, layer, heads, options)
    return part_of_bundle(overview.COMPONENT.bundle, [transport.change(message, alone=[])])


def part_of_bundle(bundle: Bundle, messages: Sequence[bytes], note: str = "") -> Part:
    data = [base64.b64encode(message).decode() for message in messages]
    style = json.dumps(bundle.style)
    script = f"{bundle.script}bundle.standAlone(%PLACE%, {style}, %DATA%);\n"
    return Part(script=script, data=data, note=note)
