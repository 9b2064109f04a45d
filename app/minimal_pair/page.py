"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from ..plots.untrusted_text import plain
from ..shell import frame
from . import PAGE
from .answers import show_answers, show_tokens
from .attention import show_attention, show_heads
from .compared import compared
from .vectors import show_vectors
from .versions import Versions, choose_second


@st.fragment
def show(page: frame.Page, second: Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    with frame.guard():
        both = compared(page, second)
        is_other = second != (page.text_a, page.text_b)
        if is_other and both.second.truncation is not None:
            st.warning(f"Second version: {plain(both.second.truncation.sentence())}")
        if not show_tokens(both):
            return
        show_answers(page, both)
        show_attention(page, both)
        show_heads(page, both)
        show_vectors(page, both)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, choose_second(page))
