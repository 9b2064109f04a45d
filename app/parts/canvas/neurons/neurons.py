"""The neuron view: where a weight comes from, dimension by dimension of one head, on a canvas.

The browser gets queries, keys, scores and weights of one head as float32 and multiplies the chosen
query with the keys. Query, order and marking stay there; layer and head are reported back.
"""

import numpy as np

from bertcore.analysis.heads.attention import HeadSteps

from ....plots import theme
from ...component import Component
from ...html_file.document import ScriptedPicture
from ..shared import transport
from ..shared.view_options import ViewOptions

COMPONENT = Component("bertscope_attention_neurons", __file__)

DEFAULT_OPTIONS: ViewOptions = {"order": "weight", "query": None}
"""How the view opens: the order of the keys, and the query (None: the first word)."""
OPTION_CHOICES = {"order": ("weight", "text")}


def message(steps: HeadSteps, revision: int = 0, options: ViewOptions = DEFAULT_OPTIONS) -> bytes:
    """Return what the view draws: queries and keys [T, K], scores and weights [T, T], NaN as such.

    `revision` is that of the last selection that the view reported; `options`: how it opens.
    """
    neurons, tokens = steps.neurons, steps.input
    header = {
        "tokens": tokens.tokens,
        "text_ids": tokens.text_ids,
        "is_pair": tokens.is_pair,
        "layer": steps.layer,
        "head": steps.head,
        "num_layers": steps.num_layers,
        "num_heads": steps.num_heads,
        "width": neurons.queries.shape[-1],
        "revision": revision,
        "look": options,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
        "light": [colour for _, colour in theme.DIVERGING],
        "dark": [colour for _, colour in theme.DIVERGING_DARK],
    }
    blocks = (neurons.queries, neurons.keys, neurons.scores, steps.weights)
    allowed = neurons.allowed
    masked = np.zeros(0, np.uint8) if allowed is None else (~allowed).numpy().astype(np.uint8)
    return transport.pack(header, *(block.numpy() for block in blocks), masked)


def part(steps: HeadSteps, options: ViewOptions | None = None) -> ScriptedPicture:
    """Return the queries, keys, scores and weights of one head for a file; see `message`."""
    drawn = message(steps, 0, options or DEFAULT_OPTIONS)
    return COMPONENT.part(transport.change(drawn, alone=[steps.layer]))
