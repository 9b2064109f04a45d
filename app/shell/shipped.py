"""What a reader must know of the checkpoint that ships."""

from __future__ import annotations

import streamlit as st

from . import frame

PLANTED = (
    "The four heads of layer 0 of this checkpoint did not arise in training alone: they began as "
    "patterns for the tokens one and two places before and after, its positions as sinusoids "
    "(`--start warm`), and training kept them."
)


def note_planted(page: frame.Page) -> None:
    """State in a caption that heads of the shipped checkpoint were planted; else draw nothing."""
    if page.bert_key.source == "default":
        st.caption(PLANTED)
