"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from app.minimal_pair import PAGE, sections
from app.minimal_pair import versions as minimal_pair
from app.plots.untrusted_text import plain
from app.shell import frame


@st.fragment
def show(page: frame.Page, second: minimal_pair.Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    with frame.guard():
        first_trace = page.trace
        second_trace = minimal_pair.second_trace(page.bert_key, second)
        is_other = second != (page.text_a, page.text_b)
        if is_other and second_trace.truncation is not None:
            st.warning(f"Second version: {plain(second_trace.truncation.sentence())}")
        found = minimal_pair.compare(page, second)
        code = sections.run_code(page, second)
        if not sections.show_tokens(first_trace, second_trace, found):
            return
        sections.show_answers(page, found, code)
        sections.show_attention(page, second_trace, found, code)
        sections.show_vectors(first_trace, second_trace, found, code)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page, minimal_pair.fields(page))
