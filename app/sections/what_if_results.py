"""Before and after a change: words, next sentence, vectors, attention."""

from __future__ import annotations

import streamlit as st

from app import frame, texts, what_if
from app.figures import what_if as figures
from app.figures import what_if_tables as tables
from bertcore.analysis.before_after import BeforeAfter

TOP_WORDS = 5


def show_answers(page: frame.Page, case: what_if.Case) -> BeforeAfter:
    """Draw the words and the next-sentence answer of both runs; return the comparison."""
    found = what_if.compare(page.bert_key, case, TOP_WORDS)
    code = run_code(page, case)
    if not case.changes:
        st.info(texts.TEXTS["what-if.unchanged"])
    if found.shifts:
        kept = page.trace.tokens
        originals = [kept[s.position] if s.position in case.masked else None for s in found.shifts]
        fig = figures.word_bars(found.shifts, originals, mask=page.marks.mask)
        frame.figure(fig, "what-if-words", tables.word_table(found.shifts), code)
        frame.how_to_read("what-if.words")
    if found.next_before is not None and found.next_after is not None:
        is_next = (found.next_before.is_next, found.next_after.is_next)
        table = tables.answer_table(is_next)
        frame.figure(figures.answer_bars(is_next), "what-if-next-sentence", table, code)
    if not found.shifts and page.bert.module.mlm is None:
        st.warning(texts.TEXTS["what-if.no_head"])
    elif not found.shifts and found.next_before is None:
        st.info(frame.own_text("what-if.no_answer"))
    return found


def show_inside(page: frame.Page, case: what_if.Case, found: BeforeAfter) -> None:
    """Draw how much each layer's vectors and each head's attention changed."""
    tokens, code = what_if.before(page.bert_key, case).tokens, run_code(page, case)
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("What changed after each layer", anchor=False)
        table = tables.hidden_table(found, tokens)
        frame.figure(figures.hidden_bars(found, tokens), "what-if-hidden", table, code)
        frame.how_to_read("what-if.hidden")
    with right:
        st.subheader("What changed in each head's attention", anchor=False)
        table = tables.head_table({"divergence_bits": found.attention_change})
        fig = figures.attention_grid(found.attention_change, case.changes.heads_off)
        frame.figure(fig, "what-if-attention", table, code)
        frame.how_to_read("what-if.attention")


def run_code(page: frame.Page, case: what_if.Case) -> str:
    """Return Python that makes both runs and compares them."""
    more = texts.CODE["what-if.runs"].format(masked=case.masked, changes=case.changes)
    return page.setup_code + more
