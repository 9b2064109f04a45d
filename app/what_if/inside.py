"""What a change does inside: the vectors of each layer, the attention of each head."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ..plots import Figure, cell_table, shorten, theme
from ..plots.before_after import AFTER, BEFORE, attention_grid, divergence_table, thinned
from ..shell import Picture, frame
from ..shell.picture import offer_json
from .answers import RUNS_CODE
from .changes import Case, EffectOfChanges


class Hidden(NamedTuple):
    """How much the vectors of each layer changed."""

    change: NDArray[np.float32]
    """1 - cosine, [L+1, T]."""
    tokens: Sequence[str]


def hidden_bars(hidden: Hidden) -> Figure:
    """Draw how much the vectors of each layer changed: the mean as a bar, the maximum as a mark."""
    change, tokens = hidden
    layers = list(range(len(change)))
    most = change.argmax(1)
    worst = [
        f"most: {theme.escape(shorten(tokens[token], 24))} at {token}: {change[layer, token]:.3g}"
        for layer, token in enumerate(most)
    ]
    fig = Figure()
    fig.add(
        "bar",
        x=layers,
        y=change.mean(1),
        marker={"color": AFTER, "line_width": 0},
        name="mean of the tokens",
        customdata=worst,
        hovertemplate="layer %{x}: %{y:.3g}<br>%{customdata}<extra></extra>",
    )
    fig.add(
        "scatter",
        x=layers,
        y=change.max(1),
        mode="markers",
        marker={"symbol": "line-ew", "size": 14, "line": {"width": 2, "color": BEFORE}},
        name="the token that changed most",
        hoverinfo="skip",
    )
    theme.plot_layout(fig, "", "layer (0: embeddings)", "1 − cosine", 230)
    fig.update_xaxes(tickvals=thinned(layers), showgrid=False)
    fig.update_yaxes(range=[0, max(1e-3, float(change.max()) * 1.12)])
    return fig


def hidden_table(hidden: Hidden) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and token."""
    change, tokens = hidden
    columns = {"position": range(len(tokens)), "token": tokens}
    return cell_table({"layer": range(len(change))}, columns, one_minus_cosine=change)


HIDDEN = Picture(
    name="what-if-hidden",
    figure=hidden_bars,
    table=hidden_table,
    how=(
        "How much the tokens' vectors turned after each layer, 1 − cosine: the mean as a bar, the "
        "token that turned most as a line; 0 means the same direction. Layers below the lowest "
        "change stay the same. Layer 1 is the output of the layer with the heads of layer 0."
    ),
    code=RUNS_CODE,
)
ATTENTION = Picture(
    name="what-if-attention",
    figure=attention_grid,
    table=divergence_table,
    how=(
        "How much each head's attention changed: Jensen-Shannon divergence of its rows; 0 means "
        "the same, 1 bit nothing in common. Crosses are heads that are off or in a skipped layer: "
        "their attention is computed, but contributes nothing."
    ),
    code=RUNS_CODE,
)


def show_inside(page: frame.Page, case: Case, compared: EffectOfChanges) -> None:
    """Draw how much each layer's vectors and each head's attention changed; offer all as JSON."""
    runs = compared.runs
    tokens = case.before.tokens
    silent = case.changes.silent_heads(page.bert.config)
    code: dict[str, Any] = {"masked": case.masked, "changes": case.changes}
    left, right = st.columns(2, gap="large")
    with left:
        st.header("What changed after each layer", anchor=False)
        HIDDEN.show(page, Hidden(runs.hidden_change, tokens), **code)
    with right:
        st.header("What changed in each head's attention", anchor=False)
        ATTENTION.show(page, runs.attention_change, drawn={"off": silent}, **code)
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
