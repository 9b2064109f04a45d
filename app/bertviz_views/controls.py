"""BertViz's own views: their kinds, and each on a page with a note on what it leaves out."""

from collections.abc import Sequence
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Trace

from ..canvas.views import part_of
from ..shell import Field, Picture, frame, one_of
from .view import DECIMALS, BertvizView, head_view, model_view, page_of, stand_ins

MOST_TOKENS = 48
MOST_NUMBERS = 1_500_000
"""Queries and keys of all layers and heads are in the page, 7 characters for each number."""

# Pixels of a token, of what is above and below, and of all columns, as neuron_view.js has them.
_ROW, _AROUND, _WIDE = 26, 150, 1040


def neuron_view(trace: Trace, layer: int = 0, head: int = 0) -> BertvizView:
    """Return BertViz's neuron view of the first tokens: `MOST_TOKENS`, fewer of large checkpoints.

    Args:
        trace: One text or pair.

    ValueError if the trace has no queries and keys; the message gives the reason.
    """
    from bertviz import neuron_view as module

    total = trace.num_tokens
    second = trace.text_ids.index(1) if 1 in trace.text_ids else None
    num_layers, num_heads, _, width = trace.queries.shape
    # A pair stores everything twice: for the whole, and for each side.
    each = 2 * num_layers * num_heads * width * (1 if second is None else 3)
    shown = min(total, MOST_TOKENS, max(8, MOST_NUMBERS // each))
    if second is not None and second >= shown:
        second = None
    data = _filters(trace, shown, second)
    # BertViz's own function with our numbers instead of what it reads from its own models; a
    # copy, since a changed module would be changed for everybody in the process.
    names = {**module.show.__globals__, "get_attention": lambda *_, **__: data}
    show = FunctionType(module.show.__code__, names, argdefs=module.show.__defaults__)
    written = show(
        None,
        "bert",
        None,
        "A",
        None if second is None else "B",  # with it, the sentence filter is there
        display_mode="light",
        layer=layer,
        head=head,
        html_action="return",
    ).data
    return BertvizView(
        page_of(written, trace.tokens, min_width=_WIDE), _ROW * shown + _AROUND, shown, total
    )


def _filters(trace: Trace, shown: int, second: int | None) -> dict[str, dict[str, Any]]:
    """Return what BertViz's `get_attention` does: the numbers of each of its sentence filters."""
    sides = {"a": slice(0, shown if second is None else second)}
    if second is not None:
        sides["b"] = slice(second, shown)
    parts = {"all": (slice(0, shown), slice(0, shown))}
    if second is not None:
        parts |= {x + y: (sides[x], sides[y]) for x in sides for y in sides}
    names = stand_ins(shown)
    return {
        name: {
            "attn": _lists(trace.attentions[:, :, rows, columns]),
            "left_text": names[rows],
            "right_text": names[columns],
            "queries": _lists(trace.queries[:, :, rows]),
            "keys": _lists(trace.keys[:, :, columns]),
        }
        for name, (rows, columns) in parts.items()
    }


def _lists(numbers: Tensor) -> list[Any]:
    rounded: list[Any] = numbers.detach().double().round(decimals=DECIMALS).tolist()
    return rounded


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
