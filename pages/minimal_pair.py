"""Minimal pair: two versions of a text, and what differs in BERT."""

import streamlit as st

from app import frame, minimal_pair, texts
from app.sections import minimal_pair as sections


@st.fragment
def show(page: frame.Page, second: minimal_pair.Versions) -> None:
    """Draw what differs; runs alone when a choice changes."""
    with frame.guard():
        first_trace = page.trace
        second_trace = minimal_pair.second_trace(page.bert_key, second)
        is_other = second != (page.text_a, page.text_b)
        if is_other and second_trace.truncation is not None:
            st.warning(f"Second version: {texts.plain(second_trace.truncation.sentence())}")
        found = minimal_pair.compare(page, second)
        code = sections.run_code(page, second)
        if not sections.show_tokens(first_trace, second_trace, found):
            return
        sections.show_answers(page, found, code)
        sections.show_attention(page, second_trace, found, code)
        sections.show_vectors(first_trace, second_trace, found, code)


this_page = frame.begin("minimal-pair")
show(this_page, minimal_pair.fields(this_page))
