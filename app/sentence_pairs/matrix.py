"""Three or more sentences: the next-sentence probability of every ordered pair."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.next_sentence import next_sentence_matrix

from ..shell import frame
from ..shell.picture import Picture
from .matrix_figures import PairMatrix, matrix_table, pair_matrix

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


def show_matrix(page: frame.Page, sentences: tuple[str, ...]) -> None:
    """Draw the matrix of the pairs of some sentences."""
    if len(sentences) < 2:
        st.info("Write at least two sentences above, one per line.")
        return
    st.subheader("Which follows which?", anchor=False)
    with frame.guard():
        probabilities = page.compute(next_sentence_matrix, sentences)
        MATRIX.show(page, PairMatrix(sentences, probabilities), sentences=list(sentences))
