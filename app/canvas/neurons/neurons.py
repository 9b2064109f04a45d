"""The neuron view: where a weight comes from, dimension by dimension of one head, on a canvas.

The browser gets queries, keys, scores and weights of one head as float32 and multiplies the chosen
query with the keys. Query, order and marking stay there; layer and head are reported back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import streamlit as st

from app.canvas.shared import events as reports
from app.canvas.shared import transport
from app.canvas.shared.view_options import Look
from app.plots import theme
from bertcore import Trace
from bertcore.analysis.mixing.neurons import head_neurons

_HERE = Path(__file__).parent
_NAMES = ("paint", "words", "controls", "neurons")
SCRIPTS = [transport.HERE / "levels.js", *(_HERE / f"{name}.js" for name in _NAMES)]
"""Each builds on those before; the browser gets them as one."""
STYLE = _HERE / "neurons.css"

LOOK: Look = {"order": "weight", "query": None}
"""How the view opens: the order of the keys, and the token that looks (None: the first word)."""
LOOK_OPTIONS = {"order": ("weight", "text")}


class Selection(TypedDict):
    """What the visitor chose in the view."""

    layer: int
    heads: list[int]
    """One head."""
    revision: int
    """Counts the visitor's choices; sent back, so that the view ignores an older echo."""


@cache
def _component() -> Callable[..., Any]:
    scripts = "".join(path.read_text("utf-8") for path in SCRIPTS)
    return st.components.v2.component(
        "bertscope_attention_neurons",
        css=transport.SHARED_CSS + STYLE.read_text(encoding="utf-8"),
        js=transport.SHARED_JS + scripts,
    )


def message(trace: Trace, layer: int, head: int, revision: int = 0, look: Look = LOOK) -> bytes:
    """Return what the view draws: queries and keys [T, K], scores and weights [T, T].

    Args:
        trace: One text or pair of T tokens, run without a mask. May hold NaN, shown as such.
        layer, head: 0 to L-1, 0 to H-1.
        revision: Of the last selection that the view reported.
        look: How it opens.
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
        "look": look,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
        "accent": theme.ACCENT,
        "light": [colour for _, colour in theme.DIVERGING],
        "dark": [colour for _, colour in theme.DIVERGING_DARK],
    }
    found = head_neurons(trace, layer, head)
    weights = trace.attentions[layer, head].float()  # those that BERT used, whatever its precision
    blocks = (found.queries, found.keys, found.scores, weights)
    return transport.pack(header, *(block.numpy() for block in blocks))


def attention_neurons(
    trace: Trace,
    layer: int,
    head: int,
    *,
    look: Look,
    key: str,
    on_selection: Callable[[Selection], None],
    on_look: Callable[[Look], None],
) -> None:
    """Draw the view; arguments as `message`.

    Args:
        key: Of the component in the session.
        on_selection: Called with the visitor's new layer and head before the next run.
        on_look: Called with how the visitor looks at the view, likewise.
    """
    _component()(
        key=key,
        data=message(trace, layer, head, reports.last_revision(key), look),
        on_selection_change=reports.hear(key, "selection", on_selection),
        on_look_change=reports.hear(key, "look", on_look),
    )
