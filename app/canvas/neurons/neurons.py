"""The neuron view: where a weight comes from, dimension by dimension of one head, on a canvas.

The browser gets queries, keys, scores and weights of one head as float32 and multiplies the chosen
query with the keys. Query, order and marking stay there; layer and head are reported back.
"""

import numpy as np
from torch import Tensor

from bertcore import Trace
from bertcore.analysis.mixing.neurons import head_neurons

from ...component import Component
from ...html_file.document import ScriptedPicture
from ...plots import theme
from ..shared import transport
from ..shared.view_options import ViewOptions

COMPONENT = Component("bertscope_attention_neurons", __file__)

DEFAULT_OPTIONS: ViewOptions = {"order": "weight", "query": None}
"""How the view opens: the order of the keys, and the query (None: the first word)."""
OPTION_CHOICES = {"order": ("weight", "text")}


def message(
    trace: Trace,
    layer: int,
    head: int,
    revision: int = 0,
    options: ViewOptions = DEFAULT_OPTIONS,
    allowed: Tensor | None = None,
) -> bytes:
    """Return what the view draws: queries and keys [T, K], scores and weights [T, T].

    Args:
        trace: One text or pair of T tokens. May contain NaN, shown as such.
        layer, head: 0 to L-1, 0 to H-1.
        revision: Of the last selection that the view reported.
        options: How it opens.
        allowed: The mask of the layer, as `allowed_keys` returns it; None: there is none, or it is
            not known.
    """
    num_layers, num_heads, _, width = trace.queries.shape
    header = {
        "tokens": list(trace.tokens),
        "text_ids": list(trace.text_ids),
        "is_pair": 1 in trace.text_ids,
        "layer": layer,
        "head": head,
        "num_layers": num_layers,
        "num_heads": num_heads,
        "width": width,
        "revision": revision,
        "look": options,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
        "light": [colour for _, colour in theme.DIVERGING],
        "dark": [colour for _, colour in theme.DIVERGING_DARK],
    }
    neurons = head_neurons(trace, layer, head, allowed)
    weights = trace.attentions[layer, head].float()  # those that BERT used, whatever its precision
    blocks = (neurons.queries, neurons.keys, neurons.scores, weights)
    masked = np.zeros(0, np.uint8) if allowed is None else (~allowed).numpy().astype(np.uint8)
    return transport.pack(header, *(block.numpy() for block in blocks), masked)


def part(
    trace: Trace,
    layer: int,
    head: int,
    options: ViewOptions | None = None,
    allowed: Tensor | None = None,
) -> ScriptedPicture:
    """Return the queries, keys, scores and weights of one head for a file; see `message`."""
    drawn = message(trace, layer, head, 0, options or DEFAULT_OPTIONS, allowed)
    return COMPONENT.part(transport.change(drawn, alone=[layer]))
