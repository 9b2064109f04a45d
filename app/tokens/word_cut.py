"""How the word of a chosen token was cut into pieces."""

from __future__ import annotations

import streamlit as st

from app.plots.untrusted_text import plain, shorten
from app.shell import cache, frame, texts_lookup
from app.tokens.word_steps import word_steps
from bertcore.analysis.space import embeddings as numbers


def show_steps(page: frame.Page, index: int) -> None:
    """Draw how the chosen token's word was cut."""
    text_id = page.trace.text_ids[index]
    if text_id < 0:
        st.caption(texts_lookup.TEXTS["tokens.added"].format(token=plain(page.trace.tokens[index])))
        return
    if page.bert.tokenizer.kind != "WordPiece":
        st.caption(texts_lookup.TEXTS["tokens.no_steps"].format(kind=page.bert.tokenizer.kind))
        return
    text = numbers.kept_text(page.trace, text_id)
    words = cache.call(numbers.explain_words, page.bert_key, text)
    steps = numbers.word_at(words, page.trace.offsets[index])
    with st.container(border=True):
        st.markdown(f"**How “{plain(shorten(steps.word))}” is cut**")
        word_steps(steps, key="steps")
        if any(piece.tried for piece in steps.pieces):
            st.caption(texts_lookup.TEXTS["tokens.steps"])
