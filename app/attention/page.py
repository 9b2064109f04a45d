"""Attention: what each token attends to, in every head of every layer."""

import streamlit as st

from ..bertviz_views.controls import draw_bertviz
from ..canvas.shared.attention_data import shown_heads
from ..canvas.views import HEADS, LAYER, draw_lines, draw_map, draw_neurons, draw_overview
from ..plots.special_tokens import Marks
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.links import ATTENTION_VIEW as VIEW
from ..shell.one_of import one_of
from . import PAGE, decoder, switch_off, window
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
        switch_off.offer(row, layer, heads, num_heads)
        window.note(page, layer)
    names = VIEWS | (decoder.VIEW if decoder.has_decoder(page.bert) else {})
    view = one_of("View", names, VIEW)
    with frame.guard():
        if view == "decoder":
            decoder.draw(page)
        else:
            DRAWN[view](page, layer, heads)


def draw() -> None:
    """Draw the page."""
    views(frame.begin(PAGE))
