"""The aligned tokens of both versions, and what BERT answers to each."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.before_after import WordShift

from ..plots.before_after import next_bars, next_table, word_bars, word_table
from ..shell import Picture, capabilities, frame
from .compared import COMPARE_CODE, RUNS, ComparedRuns, token_rows
from .likelihood import can_score, show_likelihood

HOW_TOKENS = (
    "What both versions share is shown once. What differs is framed, the first version above the "
    "second; ∅ is a token that one of them does not have. Equal tokens are aligned first; a "
    "replacement is below what it replaces."
)
SAME_TEXTS = (
    "The two versions are the same, so nothing differs. Choose an example, or *Copy the first "
    "version* and change a word in it."
)
SAME_TOKENS = (
    "The two versions differ as text but have the same tokens in this vocabulary, so nothing "
    "differs for BERT. Change a word in the second version."
)
NO_QUESTION = (
    "BERT has no question to answer here: write \\[MASK\\] at the same place in both versions to "
    "compare its words, or add a sentence B to compare the next-sentence answer."
)
NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so no words can be compared. What differs "
    "inside is below; to compare words, choose a pretrained checkpoint such as `default` in the "
    "sidebar."
)


def _word_table(shifts: Sequence[WordShift]) -> pd.DataFrame:
    table = word_table(shifts).rename(columns={"p_before": "p_first", "p_after": "p_second"})
    return table.assign(difference_points=100 * (table["p_second"] - table["p_first"]))


def _answer_table(is_next: Sequence[float]) -> pd.DataFrame:
    return next_table(is_next).assign(run=RUNS)


WORDS = Picture(
    name="minimal-pair-words",
    figure=word_bars,
    table=_word_table,
    how=(
        "The best words at each \\[MASK\\] in the first version (grey) and the second (blue): the "
        "five best of both. The number after the probabilities is the difference in percentage "
        "points. KL measures how far the probabilities of the whole vocabulary moved: 0 means not "
        "at all."
    ),
    code=COMPARE_CODE,
)
NEXT_SENTENCE = Picture(
    name="minimal-pair-next-sentence",
    figure=next_bars,
    table=_answer_table,
    how=(
        "The next-sentence head's probability that B follows A (blue) and that it is a random text "
        "(orange), in both versions; in brackets the difference in percentage points."
    ),
    code=COMPARE_CODE,
)


def show_tokens(compared: ComparedRuns) -> bool:
    """Draw the aligned tokens; return whether any differ."""
    st.html(token_rows(compared.first, compared.second, compared.pair))
    differ = any(compared.pair.changed)
    if not differ:
        first, second = compared.first, compared.second
        is_same = (first.text_a, first.text_b) == (second.text_a, second.text_b)
        st.info(SAME_TEXTS if is_same else SAME_TOKENS)
    st.caption(f"**How to read this.** {HOW_TOKENS}")
    return differ


def show_answers(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw the words at each common [MASK], and the next-sentence answers."""
    pair = compared.pair
    if pair.shifts:
        drawn = {"originals": [None] * len(pair.shifts), "names": RUNS, "mask": page.marks.mask}
        WORDS.show(page, pair.shifts, drawn=drawn, texts=compared.texts)
    if pair.next_first is not None and pair.next_second is not None:
        is_next = (pair.next_first.is_next, pair.next_second.is_next)
        NEXT_SENTENCE.show(page, is_next, drawn={"names": RUNS}, texts=compared.texts)
    has_question = bool(pair.shifts) or pair.next_first is not None
    if not has_question and can_score(page, compared):
        show_likelihood(page, compared)
    elif not pair.shifts and capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
    elif not pair.shifts and "mlm" not in page.bert.capabilities:
        st.warning(NO_MASKED_WORDS)
    elif not pair.shifts and pair.next_first is None:
        st.info(frame.own_tokens(NO_QUESTION))
