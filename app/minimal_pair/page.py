"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from ..plots import plain
from ..shell import Field, frame, one_of
from . import PAGE
from .answers import show_answers, show_tokens
from .compared import compared
from .inside import show_attention, show_heads, show_vectors
from .many_pairs import show_many
from .patching import show_patching
from .versions import Versions, choose_second

WHAT, WHERE, MANY = "What differs", "Where it is decided", "Over many pairs"
VIEWS = (WHAT, WHERE, MANY)
VIEW = Field("pair_view", WHAT, VIEWS)


@frame.fragment
def show(page: frame.Page, second: Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    view = one_of("View", VIEWS, VIEW)
    if view == MANY:
        show_many(page)
        return
    both = compared(page, second)
    is_other = second != (page.text_a, page.text_b)
    if is_other and both.second.truncation is not None:
        st.warning(f"Second version: {plain(both.second.truncation.sentence())}")
    if not show_tokens(both):
        return
    if view == WHERE:
        show_patching(page, second)
        return
    show_answers(page, both)
    show_attention(page, both)
    show_heads(page, both)
    show_vectors(page, both)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, choose_second(page))
