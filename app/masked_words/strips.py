"""The whole sentence as a strip: the surprise of each token, and the masking of pretraining."""

from __future__ import annotations

import streamlit as st

from app.plots import strips
from app.shell import cache, frame, state, tables, texts_lookup
from bertcore.analysis.words.masking_demo import corrupt
from bertcore.analysis.words.surprise import surprise

MANY_TOKENS = 64
"""Longer texts are scored only when asked: the cost grows with the square of the length."""


def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    st.subheader("What surprises BERT", anchor=False)
    num_tokens = page.trace.num_tokens if page.trace else 0
    if num_tokens > MANY_TOKENS:
        ask = f"Score all {num_tokens} tokens, one run of BERT each"
        if not st.toggle(ask, key=state.keep("surprise", False)):
            return
    with frame.guard(), st.spinner(texts_lookup.TEXTS["words.scoring"]):
        found = cache.call(surprise, page.bert_key, page.text_a, page.text_b)
        code = page.setup_code + texts_lookup.CODE["words.surprise"]
        frame.figure(strips.surprise_strip(found), "surprise", tables.surprise(found), code)
        perplexity = f"{found.pseudo_perplexity:,.1f}"
        frame.how_to_read("words.surprise", perplexity=perplexity, num_tokens=len(found.tokens))


def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    st.subheader("How the training data is masked", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    seed = row.number_input(
        "Seed",
        min_value=0,
        max_value=999_999,
        step=1,
        width=140,
        key=state.keep("mask_seed", 1, low=0, high=999_999),
    )
    row.button(
        "Draw again",
        icon=":material/casino:",
        on_click=lambda: state.put("mask_seed", (seed + 1) % 10**6),
    )
    shares = [5, 10, 15, 25, 40]
    share = row.segmented_control(
        "Share of the tokens that is chosen",
        shares,
        format_func="{}%".format,
        key=state.keep("share", 15, options=shares),
    )
    with frame.guard():
        share = share or 15
        drawn = cache.call(corrupt, page.bert_key, page.text_a, page.text_b, seed, share / 100)
        code = page.setup_code + texts_lookup.CODE["words.masking"].format(
            seed=seed, share=share / 100
        )
        how = frame.reading("words.masking", chosen=drawn.num_chosen, num_tokens=len(drawn.tokens))
        fig = strips.masking_strip(drawn, page.marks.mask)
        frame.figure(fig, "masking", tables.corruption(drawn), code, how=how)
        frame.how_to_read("words.masking", chosen=drawn.num_chosen, num_tokens=len(drawn.tokens))
