"""BertViz's own views on a page, with a word on what they leave out."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from app.bertviz import html_part as framed
from app.bertviz.kinds import KINDS, of_trace
from app.canvas.draw import html_file
from app.canvas.shared.attention_data import bertviz_code
from app.plots.untrusted_text import plain
from app.shell import cache, frame, state, texts_lookup
from app.shell.one_of import one_of
from bertcore import Trace


def draw(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw the chosen one of BertViz's views.

    Args:
        key, trace: One text or pair of a checkpoint.
        layer, heads: Shown at first in the head view; no heads for all.
    """
    kind = one_of("BertViz's view", KINDS, key=state.keep("bertviz", "head", options=list(KINDS)))
    reason = cache.opened(key).config.family.lacks.get("queries")
    if kind == "neuron" and reason is not None:
        st.info(plain(reason))
        return
    view = of_trace(trace, kind, layer, heads)
    if view.shown < view.total:
        limit = texts_lookup.TEXTS[
            f"attention.bertviz_{'numbers' if kind == 'neuron' else 'limit'}"
        ]
        st.warning(limit.format(shown=view.shown, total=view.total))
    st.iframe(view.html, height=min(view.height, 900), alt=f"BertViz, {KINDS[kind].lower()}")
    title, code = (
        f"BertViz, {KINDS[kind].lower()}",
        bertviz_code(key.source, trace, kind, layer, heads, view.shown),
    )
    report = html_file(
        key,
        trace,
        title,
        partial(framed.bertviz, kind=kind, layer=layer, heads=heads),
        code,
        frame.reading("attention.bertviz"),
    )
    shown = {
        "attention": trace.attentions[:, :, : view.shown, : view.shown].float().numpy(),
        "tokens": np.array(trace.tokens[: view.shown]),
    }
    if kind == "neuron":
        shown["queries"] = trace.queries[:, :, : view.shown].float().numpy()
        shown["keys"] = trace.keys[:, :, : view.shown].float().numpy()
    frame.downloads(f"attention-bertviz-{kind}", shown, code, report=report)
    frame.how_to_read("attention.bertviz")
