"""Attention: what each token attends to, in every head of every layer."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.architecture.modern_config import ModernBertConfig

from ..bertviz_views.controls import draw_bertviz
from ..canvas.shared.attention_data import shown_heads
from ..canvas.views import HEADS, LAYER, draw_lines, draw_map, draw_neurons, draw_overview
from ..plots.special_tokens import Marks
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.links import ATTENTION_VIEW as VIEW
from ..shell.links import name_of, open_page, switch_off, want_question
from ..shell.one_of import one_of
from . import PAGE, decoder
from .head_sentence import head_sentence

VIEWS = {"lines": "Lines", "heat-map": "Heat map", "neurons": "Neurons", "bertviz": "BertViz"}
DRAWN = {
    "lines": draw_lines,
    "heat-map": draw_map,
    "neurons": draw_neurons,
    "bertviz": draw_bertviz,
}


@frame.fragment
def views(page: frame.Page) -> None:
    """Draw overview and views; a click in them reruns only this, not the page."""
    trace = page.trace
    num_layers, num_heads = trace.attentions.shape[:2]
    LAYER.key(low=0, high=num_layers - 1)
    HEADS.key(options=list(range(num_heads)))
    layer, heads = LAYER.value, shown_heads(HEADS.value, num_heads)
    with frame.guard():
        summary = draw_overview(page, layer, heads)
        measures = summary.measures.of(layer, heads)
        marks = Marks(*map(plain, summary.marks))
        row = st.container(horizontal=True, vertical_alignment="center", key="attention_open")
        sentence = head_sentence(measures, layer, heads, trace.num_tokens, marks)
        row.markdown(sentence, width="stretch")
        _offer_switch_off(row, layer, heads, num_heads)
        _note_window(page, layer)
    names = VIEWS | (decoder.VIEW if "decoder" in page.bert.capabilities else {})
    view = one_of("View", names, VIEW)
    with frame.guard():
        if view == "decoder":
            decoder.draw(page)
        else:
            DRAWN[view](page, layer, heads)


def _offer_switch_off(
    row: DeltaGenerator, layer: int, heads: Sequence[int], num_heads: int
) -> None:
    """Draw a button in `row` that opens What if with the open heads off, besides those already off.

    No open heads mean all of the layer's.
    """
    opened = list(heads) or list(range(num_heads))
    names = [name_of(layer, head) for head in opened]
    label = f"Switch head {names[0]} off" if len(names) == 1 else "Switch these heads off"
    if len(opened) == num_heads > 1:
        label = f"Switch layer {layer}'s heads off"
    if row.button(
        label,
        key="switch_off",
        icon=":material/toggle_off:",
        help=(
            "Opens What if?, which shows BERT's answer with and without this change, side by side."
        ),
    ):
        switch_off(names)
        want_question()
        open_page("what_if")


def _note_window(page: frame.Page, layer: int) -> None:
    """Write how far a layer attends, if not to every token."""
    config = page.bert.config
    reach = config.window(layer) if isinstance(config, ModernBertConfig) else None
    if reach is None:
        return
    num_tokens = page.trace.num_tokens
    cut = (
        "the cells beyond it are masked, not small."
        if num_tokens > reach + 1
        else f"this text of {num_tokens} tokens fits within it."
    )
    st.caption(f"Layer {layer} attends within {reach} tokens to each side (a local window); {cut}")


def draw() -> None:
    """Draw the page."""
    views(frame.begin(PAGE))
