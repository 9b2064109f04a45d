"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from ..plots import plain
from ..shell import Field, frame
from . import PAGE, inside, many_pairs, patching
from .answers import show_answers, show_tokens
from .compared import Versions, choose_second, compared

ATTENTION, STATES = Field("pair_attention", False), Field("pair_states", False)
MANY = Field("pair_many", False)


@frame.fragment
def show(page: frame.Page, second: Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    both = compared(page, second)
    is_other = second != (page.text_a, page.text_b)
    if is_other and both.second.truncation is not None:
        st.warning(f"Second version: {plain(both.second.truncation.sentence())}")
    if not show_tokens(both):
        return
    show_answers(page, both)
    st.header("How each token's vector differs", anchor=False)
    inside.show_vectors(page, both)
    attention(page, second)
    states(page, second)


@frame.closed("What does each token attend to?", ATTENTION, inside.LAYER, inside.HEAD)
def attention(page: frame.Page, second: Versions) -> None:
    """Draw the difference of a head, or of a layer's mean, and how much each head differs."""
    both = compared(page, second)
    inside.show_attention(page, both)
    inside.show_heads(page, both)


@frame.closed("Which hidden states carry the difference?", STATES)
def states(page: frame.Page, second: Versions) -> None:
    """Draw what changes if states of one version are put into the run of the other."""
    patching.show_patching(page, second)


@frame.closed("Of many pairs, which sentence does BERT find more probable?", MANY, many_pairs.GROUP)
def many(page: frame.Page) -> None:
    """Draw how often the good sentence of our pairs is the more probable one."""
    many_pairs.show_many(page)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, choose_second(page))
    many(page)
