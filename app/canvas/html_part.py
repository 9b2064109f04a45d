"""Our attention views as parts of a file: the component's own scripts and what it would be sent."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app import html_file
from app.canvas.heat_map import heat_map as attention_map
from app.canvas.lines import lines as attention_view
from app.canvas.neurons import neurons as attention_neurons
from app.canvas.overview import overview as attention_overview
from app.canvas.shared import transport
from app.canvas.shared.attention_data import mean_weights
from app.canvas.shared.view_options import Look
from app.html_file.document import Part
from app.plots.special_tokens import BERT, Marks
from bertcore import Trace

MOST_WEIGHTS = 5_000_000
"""Up to so many weights the lines of all layers are put into a file; beyond, of one layer."""

_VIEWS = {
    "view": attention_view,
    "map": attention_map,
    "neurons": attention_neurons,
    "overview": attention_overview,
}
_ALONE = Path(html_file.__file__).parent / "alone.js"


def lines(trace: Trace, layer: int, heads: Sequence[int] = (), look: Look | None = None) -> Part:
    """Return the lines of all layers, or of one where all would make the file large.

    Args:
        trace: One text or pair.
        layer, heads: Shown at first; no heads for all. All heads of a layer are in the file.
        look: How the view opens.
    """
    num_layers = len(trace.attentions)
    has_all = trace.attentions.numel() <= MOST_WEIGHTS
    here = list(range(num_layers)) if has_all else [layer]
    order = sorted(here, key=lambda one: one != layer)
    messages = [
        transport.change(
            attention_view.message(trace, one, [], 0, look or attention_view.LOOK),
            heads=list(heads),
            alone=here,
        )
        for one in order
    ]
    note = "" if has_all else f"Of {num_layers} layers this file holds layer {layer} alone."
    return _part("view", messages, note)


def heat_map(
    trace: Trace, layers: Sequence[int], heads: Sequence[int], look: Look | None = None
) -> Part:
    """Return the map of one head or of a mean; no heads for all."""
    weights, title = mean_weights(trace, layers, heads)
    look = look or attention_map.LOOK
    message = attention_map.message(trace, weights, title, layers, heads, 0, look)
    return _part("map", [transport.change(message, alone=list(layers))])


def neurons(trace: Trace, layer: int, head: int, look: Look | None = None) -> Part:
    """Return the queries, keys, scores and weights of one head."""
    message = attention_neurons.message(trace, layer, head, 0, look or attention_neurons.LOOK)
    return _part("neurons", [transport.change(message, alone=[layer])])


def overview(
    trace: Trace,
    layer: int,
    heads: Sequence[int] = (),
    look: Look | None = None,
    marks: Marks = BERT,
) -> Part:
    """Return all heads as small pictures with their measures, of a checkpoint with those marks."""
    summary = attention_overview.summary_of(trace, marks)
    look = look or attention_overview.LOOK
    message = attention_overview.message(summary, trace.num_tokens, layer, heads, look)
    return _part("overview", [transport.change(message, alone=[])])


def _part(name: str, messages: Sequence[bytes], note: str = "") -> Part:
    data = [base64.b64encode(message).decode() for message in messages]
    return Part(script=_script(name), data=data, note=note)


@cache
def _script(name: str) -> str:
    """Return the module that draws a view, as `Part` has it."""
    view = _VIEWS[name]
    css = json.dumps(transport.SHARED_CSS + view.STYLE.read_text(encoding="utf-8"))
    scripts = "".join(path.read_text(encoding="utf-8") for path in view.SCRIPTS)
    alone = _ALONE.read_text(encoding="utf-8")
    own = scripts.replace("export default function", "const component = function", 1)
    return f"{transport.SHARED_JS}{own}{alone}\nstandAlone(component, %PLACE%, {css}, %DATA%);\n"
