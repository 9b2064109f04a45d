"""What a reader must know of the checkpoint that ships."""

from __future__ import annotations

import streamlit as st

from bertcore.checkpoints.source import SHIPPED

from . import frame

PLANTED = (
    "The four heads of layer 0 of this checkpoint did not arise in training alone: they began as "
    "patterns for the tokens one and two places before and after, its positions as sinusoids "
    "(`--start warm`), and training kept them."
)


def note_planted(page: frame.Page) -> None:
    """State that heads of the checkpoints that ship were planted; draw nothing for others."""
    if page.bert_key.source in SHIPPED:
        st.caption(PLANTED)
