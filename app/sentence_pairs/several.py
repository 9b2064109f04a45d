"""Three or more sentences: how similar they are, and which of them follows which."""

from __future__ import annotations

import streamlit as st

from ..shell import frame
from ..shell.state import Field
from .matrix import show_matrix
from .similarity import show_similarity

MOST_SENTENCES = 12
"""Most sentences of a legible matrix: 132 pairs."""
DEFAULT = """The river rose during the night.
In the morning the old bridge was under water.
Soldiers built a new bridge within a week.
The committee elected a new chairman in May.
He had been a member of the party since 1990."""
"""Three sentences of one story, then two of another."""

SENTENCES = Field("sentences", DEFAULT)


def show_several(page: frame.Page) -> None:
    """Draw the box for the sentences and the two matrices of their pairs.

    The texts of the page come first among those whose similarity is shown.
    """
    st.header("Three or more sentences", anchor=False)
    text = st.text_area("Sentences, one per line", key=SENTENCES.key(), height="content")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_SENTENCES:
        st.warning(
            f"There are {len(lines)} sentences; the first {MOST_SENTENCES} are compared, since "
            "more would not be legible."
        )
    sentences = tuple(lines[:MOST_SENTENCES])
    own = [" ".join(one.split()) for one in (page.text_a, page.text_b) if one and one.strip()]
    compared = tuple(dict.fromkeys([*own, *sentences]))
    if len(compared) > 1:
        with frame.guard():
            show_similarity(page, compared)
    if "nsp" in page.bert.capabilities or len(compared) < 2:
        show_matrix(page, sentences)
