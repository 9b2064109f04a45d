"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from ..plots import plain
from ..shell import Field, frame, one_of
from . import PAGE
from .agreement import show_agreement
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
    show_agreement(page, second)
    attention(page, second)
    vectors(page, second)


@frame.section("What each token attends to")
def attention(page: frame.Page, second: Versions) -> None:
    """Draw the difference of a head, or of a layer's mean, and how much each head differs."""
    both = compared(page, second)
    show_attention(page, both)
    show_heads(page, both)


@frame.section("How each token's vector differs")
def vectors(page: frame.Page, second: Versions) -> None:
    """Draw how much the vector of each token differs after each layer."""
    show_vectors(page, compared(page, second))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, choose_second(page))
