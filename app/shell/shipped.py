"""What a reader must know of the checkpoints that ship."""

from __future__ import annotations

import streamlit as st

from bertcore.checkpoints.source import SHIPPED

from . import frame


def note(page: frame.Page, sentence: str) -> None:
    """State in a caption what holds for the checkpoints that ship; for others draw nothing."""
    if page.bert_key.source in SHIPPED:
        st.caption(sentence)
