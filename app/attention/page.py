"""Attention: where each token looks, in every head of every layer."""

import streamlit as st

from app.attention import PAGE, decoder, switch_off
from app.attention.head_sentence import head_sentence
from app.bertviz import controls as bertviz
from app.canvas.draw import draw_lines, draw_map, draw_neurons, draw_overview
from app.canvas.shared.attention_data import shown_heads
from app.plots.special_tokens import Marks
from app.plots.untrusted_text import plain
from app.shell import cache, frame, state

VIEWS = {"lines": "Lines", "heat-map": "Heat map", "neurons": "Neurons", "bertviz": "BertViz"}


@st.fragment
def views(key: cache.BertKey, text_a: str, text_b: str | None) -> None:
    """Draw overview and views; a click in them runs only this, not the page."""
    trace = cache.trace(key, text_a, text_b)
    num_layers, num_heads = trace.attentions.shape[:2]
    layer_name = state.keep("layer", 0, low=0, high=num_layers - 1)
    heads_name = state.keep("heads", [], options=list(range(num_heads)))
    layer, heads = state.value(layer_name), shown_heads(state.value(heads_name), num_heads)
    with frame.guard():
        summary = draw_overview(key, trace, layer, heads)
        measures = summary.measures.of(layer, heads)
        marks = Marks(*map(plain, summary.marks))
        row = st.container(horizontal=True, vertical_alignment="center", key="attention_open")
        said = head_sentence(measures, layer, heads, trace.num_tokens, marks)
        row.markdown(said, width="stretch")
        switch_off.offer(row, layer, heads, num_heads)
    names = VIEWS | (decoder.VIEW if decoder.has_decoder(cache.opened(key)) else {})
    view = st.segmented_control(
        "View",
        list(names),
        format_func=names.get,
        key=state.keep("view", "lines", options=list(names)),
        label_visibility="collapsed",
        required=True,
    )
    with frame.guard():
        if view == "heat-map":
            draw_map(key, trace, layer, heads)
        elif view == "decoder":
            decoder.draw(key, text_a, text_b)
        elif view == "neurons":
            draw_neurons(key, trace, layer, heads)
        elif view == "bertviz":
            bertviz.draw(key, trace, layer, heads)
        else:
            draw_lines(key, trace, layer, heads)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    views(page.bert_key, page.text_a, page.text_b)
