"""The prediction at each layer: the lens, and the ranks of words that are worth following."""

from __future__ import annotations

import streamlit as st

from app.plots import lens as figures
from app.shell import cache, frame, state, tables, texts_lookup
from bertcore.analysis.words.lens import layer_predictions, word_trajectories

LENS_ROWS = 24
"""Tokens of the lens that are drawn at a time."""


def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    st.subheader("The prediction at each layer", anchor=False)
    views = ["At the mask", "Whole sentence"]
    key = state.keep("lens", views[0], options=views)
    view = st.segmented_control("Lens", views, key=key, label_visibility="collapsed")
    shown: tuple[int, ...] = (position,)
    if view == views[1]:
        shown = choose_window(page.trace.num_tokens)
    where = (page.text_a, page.text_b, masked, shown, 5)
    found = cache.call(layer_predictions, page.bert_key, *where)
    fig = figures.lens_sentence(found) if view == views[1] else figures.lens_mask(found)
    code = page.setup_code + texts_lookup.CODE["words.lens"].format(masked=masked, shown=shown)
    frame.figure(fig, "lens", tables.lens(found), code, how=frame.reading("words.lens"))
    frame.how_to_read("words.lens")


def choose_window(num_tokens: int) -> tuple[int, ...]:
    """Return the positions of the lens: all, or as many as fit from the chosen one on."""
    most = num_tokens - LENS_ROWS
    if most <= 0:
        return tuple(range(num_tokens))
    start = st.slider("First token", 0, most, key=state.keep("lens_start", 0, low=0, high=most))
    return tuple(range(start, start + LENS_ROWS))


def show_ranks(
    page: frame.Page,
    masked: tuple[int, ...],
    position: int,
    chosen: tuple[str, ...],
    original: str | None,
) -> None:
    """Draw the ranks of the words that are worth following."""
    where = (page.text_a, page.text_b, masked, position, chosen)
    found = cache.call(word_trajectories, page.bert_key, *where)
    code = texts_lookup.CODE["words.ranks"].format(masked=masked, position=position, words=chosen)
    table = tables.trajectories(found)
    frame.figure(
        figures.rank_curves(found, original),
        "ranks",
        table,
        page.setup_code + code,
        how=frame.reading("words.ranks"),
    )
    frame.how_to_read("words.ranks")
