"""The canvas views without the app: each alone in a bare page, fed with any tokens.

Used by the tests of the views and by the benchmark.
"""

import base64
import json
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

from app.parts.bundle import Bundle, read_bundle
from app.parts.canvas.heat_map import heat_map
from app.parts.canvas.lines import lines
from app.parts.canvas.neurons import neurons
from app.parts.canvas.overview import overview
from app.screens.what_if import head_switches, mask_drawing
from bertcore import Trace
from bertcore.analysis import attention_map, attention_overview, layer_attention
from bertcore.analysis.heads.attention import traced_steps
from bertcore.model.trace import Activations, TracedEmbeddings

PLACE = "#place"
"""The element in which the view is drawn; its width can be set."""

_PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>:root {{
  --st-text-color: #1b2233; --st-background-color: #fff; --st-secondary-background-color: #f3f5fa;
  --st-primary-color: #3457d5; --st-border-color: #dce1ec; --st-font: sans-serif; }}
  @media (prefers-color-scheme: dark) {{ :root {{
  --st-text-color: #e6e9f2; --st-background-color: #11151f;
  --st-secondary-background-color: #1b2130; --st-primary-color: #4f6be5;
  --st-border-color: #2d3548; }} }}
  body {{ margin: 12px; background: var(--st-background-color); }}
</style></head><body><div id="place" style="width: {width}px"></div>
<script type="module">{js}</script></body></html>"""

# Streamlit puts a component into a shadow root, with its style beside it.
_MOUNT = """
const style = document.createElement("style");
style.textContent = %s;
const root = document.getElementById("place").attachShadow({ mode: "open" });
root.append(style);
window.component = bundle.default;
window.reports = {};
const report = (name, value) => { window.reports[name] = value; };
window.arrived = (text) => {
  window.data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
};
window.call = (data) => window.component({
  data, parentElement: root, setStateValue: report, setTriggerValue: report });
window.draw = async () => {
  window.call(window.data);
  while (root.querySelector("[aria-busy]")) await new Promise((next) => setTimeout(next));
};
"""


class View(NamedTuple):
    """One of our views of one input."""

    page: str
    """HTML that holds the component and draws `window.data` when `draw()` is called."""
    data: bytes | dict[str, Any]
    """What the app would send to it."""

    @property
    def arrival(self) -> str:
        """JavaScript that brings the data into the page."""
        if isinstance(self.data, dict):
            return f"window.data = {json.dumps(self.data)}"
        return f"window.arrived({json.dumps(base64.b64encode(self.data).decode())})"


def lines_view(trace: Trace, layer: int = 0, heads: Sequence[int] = (), **page: Any) -> View:
    """Return the lines of a layer; `look` sets its options, `js` runs before it."""
    chosen = {**lines.DEFAULT_OPTIONS, **page.pop("look", {})}
    data = lines.message(layer_attention(trace, layer, heads), 0, chosen)
    return View(_bare(lines, **page), data)


def overview_view(trace: Trace, layer: int = 0, heads: Sequence[int] = (), **page: Any) -> View:
    """Return the overview of all heads."""
    chosen = {**overview.DEFAULT_OPTIONS, **page.pop("look", {})}
    data = overview.message(attention_overview(trace), layer, heads, chosen)
    return View(_bare(overview, **page), data)


def heat_map_view(trace: Trace, layer: int = 0, heads: Sequence[int] = (0,), **page: Any) -> View:
    """Return the heat map of one head or a mean of heads."""
    chosen = {**heat_map.DEFAULT_OPTIONS, **page.pop("look", {})}
    data = heat_map.message(attention_map(trace, [layer], heads), 0, chosen)
    return View(_bare(heat_map, **page), data)


def neurons_view(trace: Trace, layer: int = 0, head: int = 0, **page: Any) -> View:
    """Return the queries, keys and products of a head."""
    chosen = {**neurons.DEFAULT_OPTIONS, **page.pop("look", {})}
    data = neurons.message(traced_steps(trace, layer, head, None), 0, chosen)
    return View(_bare(neurons, **page), data)


def head_switches_view(
    num_layers: int, num_heads: int, off: Sequence[str] = (), skipped: Sequence[int] = ()
) -> View:
    """Return the switches of all heads."""
    shape = {"num_layers": num_layers, "num_heads": num_heads}
    return View(_bare(head_switches), {**shape, "off": list(off), "skipped": list(skipped)})


def mask_drawing_view(
    tokens: Sequence[str], blocks: Sequence[Sequence[int]] = (), *, is_causal: bool = False
) -> View:
    """Return the plane on which a mask is drawn."""
    data = {"tokens": list(tokens), "blocks": list(blocks), "is_causal": is_causal}
    return View(_bare(mask_drawing), data)


def _bare(view: ModuleType, **page: Any) -> str:
    return component_page(read_bundle(str(view.__file__)), **page)


def component_page(bundle: Bundle, *, js: str = "", width: int = 1100) -> str:
    """Return HTML that holds a component; `call(data)` calls it and returns its cleanup."""
    mount = _MOUNT % json.dumps(bundle.style)
    return _PAGE.format(width=width, js=f"{js}\n{bundle.script}{mount}")


def made_trace(
    tokens: Sequence[str], *, num_layers: int = 2, num_heads: int = 4, second: int | None = None
) -> Trace:
    """Return a trace of any tokens whose attention is random, as peaked as a trained BERT's.

    The first and the last count as special; each is a word of its own, but those that begin with
    "##" belong to the one before. `second` is the first token of text B.
    """
    size = len(tokens)
    generator = torch.Generator().manual_seed(size)
    scores = torch.randn(num_layers, num_heads, size, size, generator=generator) * 2
    nothing, heads = torch.zeros(size, 1), torch.zeros(num_layers, num_heads, size, 1)
    in_b = [second is not None and place >= second for place in range(size)]
    starts = np.cumsum([not token.startswith("##") for token in tokens])
    ends = (0, size - 1)
    return Trace(
        text_a="",
        text_b=None if second is None else "",
        tokens=list(tokens),
        input_ids=[0] * size,
        segment_ids=[int(b) for b in in_b],
        position_ids=list(range(size)),
        offsets=[(0, 0)] * size,
        text_ids=[-1 if place in ends else int(b) for place, b in enumerate(in_b)],
        word_ids=[-1 if place in ends else int(word) for place, word in enumerate(starts)],
        truncation=None,
        activations=Activations(
            embeddings=TracedEmbeddings(nothing, nothing, nothing, nothing, nothing),
            hidden_states=torch.zeros(num_layers + 1, size, 1),
            attentions=torch.softmax(scores, dim=-1),
            queries=heads,
            keys=heads,
            values=heads,
        ),
    )
