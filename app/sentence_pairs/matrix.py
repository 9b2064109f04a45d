"""Three or more sentences: the next-sentence probability of every ordered pair."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.next_sentence import next_sentence_matrix

from ..shell import cache, frame
from ..shell.picture import Picture
from ..shell.state import Field
from .matrix_figures import PairMatrix, matrix_table, pair_matrix

MOST_SENTENCES = 12
"""Sentences of a matrix that is legible: 132 pairs."""
DEFAULT = """The river rose during the night.
In the morning the old bridge was under water.
Soldiers built a new bridge within a week.
The committee elected a new chairman in May.
He had been a member of the party since 1990."""
"""Three sentences of one story, then two of another."""

SENTENCES = Field("sentences", DEFAULT)

MATRIX = Picture(
    name="pair-matrix",
    figure=pair_matrix,
    table=matrix_table,
    how=(
        "Row: sentence A. Column: sentence B. Bright: BERT believes that B follows A. Sentences of "
        "one story form a bright square. If the matrix is symmetric, the order does not matter to "
        "BERT. The diagonal is empty: no sentence follows itself."
    ),
    code="""
from bertcore.analysis.words.next_sentence import next_sentence_matrix

matrix = next_sentence_matrix(bert, {sentences!r})      # [N, N], row A, column B
""",
)


def show_matrix(page: frame.Page) -> None:
    """Draw the box for the sentences and the matrix of their pairs."""
    st.header("Three or more sentences", anchor=False)
    text = st.text_area("Sentences, one a line", key=SENTENCES.key(), height="content")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < 2:
        st.info("Write at least two sentences above, one a line.")
        return
    if len(lines) > MOST_SENTENCES:
        st.warning(
            f"There are {len(lines)} sentences; the first {MOST_SENTENCES} are compared, more "
            "would not be legible."
        )
    sentences = tuple(lines[:MOST_SENTENCES])
    with frame.guard():
        probabilities = cache.call(next_sentence_matrix, page.bert_key, sentences)
        MATRIX.show(page, PairMatrix(sentences, probabilities), sentences=list(sentences))
