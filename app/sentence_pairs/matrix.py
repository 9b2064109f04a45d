"""Three or more sentences: the next-sentence probability of every ordered pair."""

from __future__ import annotations

import streamlit as st

from app.plots import pairs
from app.shell import cache, frame, state, tables, texts_lookup
from bertcore.analysis.words.next_sentence import next_sentence_matrix

MOST_SENTENCES = 12
"""Sentences of a matrix that is legible: 132 pairs."""
DEFAULT = """The river rose during the night.
In the morning the old bridge was under water.
Soldiers built a new bridge within a week.
The committee elected a new chairman in May.
He had been a member of the party since 1990."""
"""Three sentences of one story, then two of another."""


def show_matrix(page: frame.Page) -> None:
    """Draw the box for the sentences and the matrix of their pairs."""
    st.subheader("Three or more sentences", anchor=False)
    text = st.text_area(
        "Sentences, one a line", key=state.keep("sentences", DEFAULT), height="content"
    )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        st.info(texts_lookup.TEXTS["pairs.too_few"])
        return
    if len(lines) > MOST_SENTENCES:
        st.warning(
            texts_lookup.TEXTS["pairs.too_many"].format(most=MOST_SENTENCES, given=len(lines))
        )
    sentences = tuple(lines[:MOST_SENTENCES])
    with frame.guard():
        matrix = cache.call(next_sentence_matrix, page.bert_key, sentences)
        code = page.setup_code + texts_lookup.CODE["pairs.matrix"].format(sentences=list(sentences))
        table = tables.matrix(matrix, sentences)
        frame.figure(
            pairs.pair_matrix(matrix, sentences),
            "pair-matrix",
            table,
            code,
            how=frame.reading("pairs.matrix"),
        )
        frame.how_to_read("pairs.matrix")
