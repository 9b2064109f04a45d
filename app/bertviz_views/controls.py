"""BertViz's own views: their kinds, and each on a page with a note on what it leaves out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bertcore import Trace

from ..canvas.views import part_of
from ..shell import Field, Picture, frame, one_of
from .neurons import neuron_view
from .view import BertvizView, head_view, model_view

KINDS = {"head": "Head view", "model": "Model view", "neuron": "Neuron view"}


def of_trace(trace: Trace, kind: str, layer: int, heads: Sequence[int]) -> BertvizView:
    """Return one of BertViz's views of a trace.

    Args:
        trace: One text or pair.
        kind: Which, of `KINDS`.
        layer, heads: Shown at first in the head view; no heads for all. The neuron view shows the
            first of them, the model view all.

    ValueError if there are no queries and keys for the neuron view.
    """
    second = trace.text_ids.index(1) if 1 in trace.text_ids else None
    if kind == "neuron":
        return neuron_view(trace, layer, heads[0] if heads else 0)
    if kind == "model":
        return model_view(trace.attentions, trace.tokens, second_start=second)
    return head_view(trace.attentions, trace.tokens, second_start=second, layer=layer, heads=heads)


KIND = Field("bertviz", "head", tuple(KINDS))


class _ShownTokens(NamedTuple):
    """What a view shows."""

    trace: Trace
    kind: str
    num_tokens: int
    """Number of tokens shown: the first ones."""


def _arrays(shown: _ShownTokens) -> dict[str, NDArray[np.generic]]:
    trace, kind, number = shown
    arrays: dict[str, NDArray[np.generic]] = {
        "attention": trace.attentions[:, :, :number, :number].float().numpy(),
        "tokens": np.array(trace.tokens[:number]),
    }
    if kind == "neuron":
        arrays["queries"] = trace.queries[:, :, :number].float().numpy()
        arrays["keys"] = trace.keys[:, :, :number].float().numpy()
    return arrays


_HOW = (
    "These are BertViz's own views, as in notebooks, but they work offline. Head view: choose a "
    "layer, click a coloured square to toggle a head, double-click to show it alone. Model view: "
    "rows are layers, columns are heads; click one to enlarge it. Neuron view: point at a token on "
    "the left and click its plus sign to see query times key, the score and the softmax; its dot "
    "products are divided by the square root of the head's width, as in BERT."
)
BERTVIZ = Picture(
    name="attention-bertviz",
    table=_arrays,
    how=_HOW,
    code="""
from bertviz import head_view, model_view

shown = slice({shown})
layers = [layer[None, :, shown, shown] for layer in trace.attentions]
{draw}(layers, trace.tokens[shown])  # asks other hosts for d3 and jQuery
""",
)
BERTVIZ_NEURONS = Picture(
    name="attention-bertviz-neuron",
    table=_arrays,
    needs=frozenset({"queries"}),
    how=_HOW,
    # BertViz's own function takes the model classes of 2019 only.
    code="""
from bertscope.notebook import show_bertviz

show_bertviz(trace, "neuron", {layer}, {heads}, bert=bert)
""",
)


def draw_bertviz(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the chosen one of BertViz's views.

    Args:
        page: With one text or pair.
        layer, heads: Shown at first in the head view; no heads for all.
    """
    kind = one_of("BertViz's view", KINDS, KIND)
    picture = picture_of(kind)
    if not picture.is_available(page):
        return
    trace = page.trace
    view = of_trace(trace, kind, layer, heads)
    if view.shown < view.total:
        st.warning(_limit(kind).format(shown=view.shown, total=view.total))
    st.iframe(view.html, height=min(view.height, 900), alt=f"BertViz, {KINDS[kind].lower()}")
    picture.offer(
        page,
        _ShownTokens(trace, kind, view.shown),
        title=f"BertViz, {KINDS[kind].lower()}",
        part=part_of(page, lambda trace: of_trace(trace, kind, layer, heads).part()),
        file=f"attention-bertviz-{kind}",
        **code_values(kind, layer, heads, view.shown),
    )


def picture_of(kind: str) -> Picture:
    """Return the picture of one of BertViz's views."""
    return BERTVIZ_NEURONS if kind == "neuron" else BERTVIZ


def code_values(kind: str, layer: int, heads: Sequence[int], shown: int) -> dict[str, Any]:
    """Return what fills the braces of the code of `picture_of(kind)`.

    Args:
        kind: Of `KINDS`.
        layer, heads: Shown at first.
        shown: Number of tokens, the first ones.
    """
    if kind == "neuron":
        return {"layer": layer, "heads": list(heads[:1])}
    return {"draw": f"{kind}_view", "shown": shown}


def _limit(kind: str) -> str:
    if kind == "neuron":
        return (
            "BertViz gets every number of every head's queries and keys at once, so only the first "
            "{shown} of {total} tokens are shown here. Their attention to the others is left out: "
            "rows do not sum to 1. *Neurons* shows all tokens."
        )
    return (
        "BertViz draws every weight as a separate line, so only the first {shown} of {total} "
        "tokens are shown here. Their attention to the others is left out: rows do not sum to 1. "
        "The lines and the heat map show all tokens."
    )
