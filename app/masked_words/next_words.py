"""Next words: what a causal model (GPT-2) expects at each place, on the page of masked words."""

from __future__ import annotations

import streamlit as st

from app.plots import strips, words
from app.plots.untrusted_text import plain
from app.shell import cache, frame, state, tables, texts_lookup
from app.token_strip.token_strip import token_strip
from bertcore.analysis.words.next_words import next_surprise, predict_next


def show_next(page: frame.Page) -> None:
    """Draw what the model expects at the chosen token, given those before it, and all surprises."""
    if not getattr(page.bert, "predicts_next", False):
        st.warning(texts_lookup.TEXTS["next.no_head"])
        return
    num_tokens = page.trace.num_tokens
    state.keep("next_token", num_tokens, low=1, high=num_tokens)
    place = state.value("next_token")

    def pick(token: int) -> None:
        if token:
            state.put("next_token", token)

    with frame.guard():
        chosen = place if place < num_tokens else None
        token_strip(page.trace, key="next_strip", selected=chosen, on_pick=pick)
        row = st.container(horizontal=True, vertical_alignment="center")
        after = {"on_click": state.put, "args": ("next_token", num_tokens)}
        row.button("What comes after the end?", disabled=place == num_tokens, **after)
        row.caption(texts_lookup.TEXTS["next.strip"])
        top_k = state.value(state.keep("top_k", 5, low=3, high=15))
        found = cache.call(predict_next, page.bert_key, page.text_a, page.text_b, (place,), top_k)
        code = page.setup_code + texts_lookup.CODE["next.words"].format(place=place, top_k=top_k)
        frame.figure(words.top_words(found), "next-words", tables.predictions(found), code)
        st.slider("Words", 3, 15, key="top_k", width=200)
        frame.how_to_read("next.words")
    if num_tokens > 1:
        st.subheader("What surprises it, reading from left to right", anchor=False)
        with frame.guard():
            scored = cache.call(next_surprise, page.bert_key, page.text_a, page.text_b)
            code = page.setup_code + texts_lookup.CODE["next.surprise"]
            fig = strips.surprise_strip(scored)
            frame.figure(fig, "next-surprise", tables.surprise(scored), code)
            perplexity = f"{scored.pseudo_perplexity:,.1f}"
            frame.how_to_read(
                "next.surprise",
                perplexity=perplexity,
                first=plain(page.trace.tokens[0]),
            )
