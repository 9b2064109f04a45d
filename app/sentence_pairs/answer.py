"""BERT's answer for the pair, and its answers after changes of the pair."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.next_sentence import SEGMENTS, Variant

from ..plots.formats import percent
from ..shell import frame
from ..shell.picture import Picture
from .answer_figures import answer_bar, variant_dots, variants_table

ANSWER = Picture(
    name="next-sentence",
    figure=answer_bar,
    table=variants_table,
    how=(
        "BERT is pretrained on pairs of neighbouring texts and, a little more often, on texts from "
        "different documents, to prepare it for tasks about two texts: question answering and "
        "natural language inference (Devlin et al. 2019, section 3.1). The topic often gives the "
        "answer away, so BERT may learn *is this the same topic?* rather than *does this come "
        "next?* (Lan et al. 2020). Near 0% and 100% a small change in probability is a large "
        "change in the logit."
    ),
    code="""
from bertcore.analysis.words.next_sentence import segment_ids

ids = segment_ids(trace, {segments!r})
bert.next_sentence({a!r}, {b!r}, segment_ids=ids).is_next
""",
)
VARIANTS = Picture(
    name="variants",
    figure=variant_dots,
    table=variants_table,
    how=(
        "Each dot is the answer after one change; the mark on each row is the pair as written, and "
        "the number after the percentage is the difference in percentage points. If swapping the "
        "order changes little, the answer does not use the order (near 0% and 100%, look at the "
        "logit). Segment ids and \\[SEP\\] tell BERT where B begins: without them it may no longer "
        "see two sentences."
    ),
    code="""
from bertcore.analysis.words.next_sentence import pair_variants

variants = pair_variants(bert, {a!r}, {b!r}, {others!r})
[(v.name, v.is_next) for v in variants]
""",
)


def show_answer(page: frame.Page, variants: tuple[Variant, ...], segments: str) -> None:
    """Draw the answer for the pair with the chosen segment ids."""
    chosen = [variant for variant in variants if variant.name == SEGMENTS[segments]]
    st.header(
        f"BERT gives a **{percent(chosen[0].is_next)}** probability that B follows A", anchor=False
    )
    ANSWER.show(page, chosen, a=page.text_a, b=page.text_b, segments=segments)


def show_variants(page: frame.Page, variants: tuple[Variant, ...], others: tuple[str, ...]) -> None:
    """Draw the answers to changed versions of the pair."""
    st.header("What changes the answer?", anchor=False)
    VARIANTS.show(page, variants, a=page.text_a, b=page.text_b, others=others)
