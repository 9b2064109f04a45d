"""BertViz's own views on a page, with a word on what they leave out."""

from __future__ import annotations

import streamlit as st

from app import frame, state, texts
from app.components import bertviz_view
from bertcore import Trace

BERTVIZ = {"head": "Head view", "model": "Model view"}


def draw(trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw the chosen one of BertViz's views.

    Args:
        trace: One text or pair.
        layer, heads: Shown at first in the head view; no heads for all.
    """
    kind = st.segmented_control(
        "BertViz's view",
        list(BERTVIZ),
        format_func=BERTVIZ.get,
        key=state.keep("bertviz", "head", options=list(BERTVIZ)),
        label_visibility="collapsed",
        required=True,
    )
    second = trace.text_ids.index(1) if 1 in trace.text_ids else None
    if kind == "model":
        view = bertviz_view.model_view(trace.attentions, trace.tokens, second_start=second)
    else:
        view = bertviz_view.head_view(
            trace.attentions, trace.tokens, second_start=second, layer=layer, heads=heads
        )
    if view.shown < view.total:
        limit = texts.TEXTS["attention.bertviz_limit"]
        st.warning(limit.format(shown=view.shown, total=view.total))
    st.iframe(view.html, height=min(view.height, 900), alt=f"BertViz, {BERTVIZ[kind].lower()}")
    frame.how_to_read("attention.bertviz")
