"""ALBERT's sentence order: which of two sentences comes first."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bertcore import Model

from ..plots.figure import Figure
from ..plots.formats import percent
from ..shell import frame
from ..shell.picture import Picture
from .answer_figures import SENTENCE_ORDER, probability_bar


def _order_figure(in_order: float) -> Figure:
    return probability_bar(in_order, SENTENCE_ORDER)


def _order_table(in_order: float) -> pd.DataFrame:
    return pd.DataFrame({"class": SENTENCE_ORDER, "probability": [in_order, 1 - in_order]})


ORDER = Picture(
    name="sentence-order",
    figure=_order_figure,
    table=_order_table,
    how=(
        "ALBERT was trained to distinguish two neighbouring passages in order from the same two "
        "swapped. Both are about the same topic, so unlike BERT's next-sentence head it must judge "
        "which comes first. Swap A and B to ask the other way round."
    ),
    code="""
bert.sentence_order({a!r}, {b!r}).in_order
""",
)


def sentence_order(bert: Model, text_a: str, text_b: str) -> float:
    """Return the probability that A comes before B."""
    return bert.sentence_order(text_a, text_b).in_order


def show_order(page: frame.Page) -> None:
    """Draw ALBERT's answer for the pair."""
    in_order = page.compute(sentence_order, page.text_a, page.text_b or "")
    st.header(
        f"ALBERT gives a **{percent(in_order)}** probability that A comes before B", anchor=False
    )
    ORDER.show(page, in_order, a=page.text_a, b=page.text_b)
