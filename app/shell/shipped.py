"""What a reader must know about the shipped checkpoints."""

from __future__ import annotations

import streamlit as st

from bertcore.checkpoints.source import SHIPPED

from . import frame


def note(page: frame.Page, sentence: str) -> None:
    """State in a caption what applies to the shipped checkpoints; for others draw nothing."""
    if page.bert_key.source in SHIPPED:
        st.caption(sentence)
