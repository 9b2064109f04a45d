"""What a change does inside: the vectors of each layer, the attention of each head."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.before_after import BeforeAfter

from ..plots.before_after import attention_grid, head_table
from ..plots.figure import Figure
from ..shell import frame
from ..shell.picture import Picture, offer_json
from .answers import RUNS_CODE
from .changes import Case, Compared, before
from .inside_figures import hidden_bars, hidden_table


def _hidden_figure(result: tuple[BeforeAfter, list[str]]) -> Figure:
    return hidden_bars(*result)


def _hidden_table(result: tuple[BeforeAfter, list[str]]) -> pd.DataFrame:
    return hidden_table(*result)


def _attention_figure(runs: BeforeAfter, *, off: frozenset[tuple[int, int]]) -> Figure:
    return attention_grid(runs.attention_change, off)


def _attention_table(runs: BeforeAfter) -> pd.DataFrame:
    return head_table({"divergence_bits": runs.attention_change})


HIDDEN = Picture(
    name="what-if-hidden",
    figure=_hidden_figure,
    table=_hidden_table,
    how=(
        "How much the tokens' vectors turned after each layer, 1 − cosine: the mean as a bar, the "
        "token that turned most as a line; 0 means the same direction. Layers below the lowest "
        "change stay the same. Layer 1 is the output of the layer with the heads of layer 0."
    ),
    code=RUNS_CODE,
)
ATTENTION = Picture(
    name="what-if-attention",
    figure=_attention_figure,
    table=_attention_table,
    how=(
        "How much each head's attention changed: Jensen-Shannon divergence of its rows; 0 means "
        "the same, 1 bit nothing in common. Crosses are heads that are off or in a skipped layer: "
        "their attention is computed, but contributes nothing."
    ),
    code=RUNS_CODE,
)


def show_inside(page: frame.Page, case: Case, compared: Compared) -> None:
    """Draw how much each layer's vectors and each head's attention changed; offer all as JSON."""
    runs = compared.runs
    tokens = before(page.bert_key, case).tokens
    silent = case.changes.silent_heads(page.bert.config)
    code: dict[str, Any] = {"masked": case.masked, "changes": case.changes}
    left, right = st.columns(2, gap="large")
    with left:
        st.header("What changed after each layer", anchor=False)
        HIDDEN.show(page, (runs, tokens), **code)
    with right:
        st.header("What changed in each head's attention", anchor=False)
        ATTENTION.show(page, runs, drawn={"off": silent}, **code)
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    row.caption("Everything above, before and after, in one file:")
    everything = {**about(page, case), "tokens": tokens, "found": runs, "task": compared.task}
    offer_json(row, "what-if", everything)


def about(page: frame.Page, case: Case) -> dict[str, Any]:
    """Return the input and the changes that the numbers of a file belong to."""
    report = page.bert.report
    return {
        "checkpoint": page.bert_key.source,
        "fingerprint": None if report is None else report.fingerprint,
        "text_a": case.text_a,
        "text_b": case.text_b,
        "masked": case.masked,
        "changes": case.changes,
    }
