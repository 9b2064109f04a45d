"""Which tokens support the answer, in both checkpoints."""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from ..plots import Figure, shorten, subplots, theme
from ..plots.before_after import COLOURS
from ..shell import Picture, frame
from .case import Answers, Case, code_of
from .heads import MERGED_WORDS

MOST_TOKENS = 36
"""Most tokens along an axis for which every name is written; beyond it every second, third ..."""


class Attribution(NamedTuple):
    """What each token contributes to an answer, in both checkpoints."""

    tokens: list[str]
    """[U]"""
    values: tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]
    """Gradient x input of the first and the second, each [U]; None if one has no such answer."""
    fractions: tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]
    """The same, divided by the sum of absolute values."""

    @property
    def change(self) -> NDArray[np.float32] | None:
        """The fractions of the second minus the first, [U]; None if one has no such answer."""
        first, second = self.fractions
        return None if first is None or second is None else second - first


def _bars(attribution: Attribution, *, names: tuple[str, str]) -> Figure:
    """Draw each token's normalized attribution in both, and below it the difference.

    Args:
        names: Of the checkpoints; any text.
    """
    tokens, _, fractions = attribution
    change = attribution.change
    heights = [1.0] if change is None else [0.62, 0.38]
    fig = subplots(len(heights), 1, shared_xaxes=True, vertical_spacing=0.06, row_heights=heights)
    places = list(range(len(tokens)))
    labels = [theme.escape(shorten(token, 18)) for token in tokens]
    for values, name, colour in zip(fractions, names, COLOURS, strict=True):
        if values is None:
            continue
        fig.add(
            "bar",
            x=places,
            y=values,
            name=theme.escape(name),
            marker={"color": colour, "line_width": 0},
            customdata=labels,
            hovertemplate=f"%{{customdata}}, {theme.escape(name)}: %{{y:+.1%}}<extra></extra>",
            row=1,
            col=1,
        )
    if change is not None:
        colours = np.where(change >= 0, theme.SEGMENT_A, theme.SEGMENT_B).tolist()
        fig.add(
            "bar",
            x=places,
            y=change,
            showlegend=False,
            marker={"color": colours, "line_width": 0},
            customdata=labels,
            hovertemplate="%{customdata}, changed by %{y:+.1%}<extra></extra>",
            row=2,
            col=1,
        )
    step = math.ceil(len(tokens) / MOST_TOKENS)
    theme.plot_layout(fig, "", "", "", 290 if change is None else 400)
    fig.update_layout(
        barmode="group",
        bargap=0.25,
        margin={"l": 0, "r": 8, "t": 34, "b": 0},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_xaxes(range=[-0.6, len(tokens) - 0.4], showgrid=False)
    fig.update_xaxes(
        tickvals=places[::step],
        ticktext=labels[::step],
        tickangle=-60 if len(tokens) > 9 else 0,
        row=len(heights),
        col=1,
    )
    fig.update_yaxes(tickformat="+.0%", zeroline=True, zerolinecolor=theme.GRID)
    fig.update_yaxes(title_text="fraction", row=1, col=1)
    if change is not None:
        fig.update_yaxes(title_text="change", row=2, col=1)
    return fig


def _table(attribution: Attribution) -> pd.DataFrame:
    columns: dict[str, object] = {"token": attribution.tokens}
    for which, values, fractions in zip(
        ("first", "second"), attribution.values, attribution.fractions, strict=True
    ):
        if values is not None:
            columns[f"gradient_x_input_{which}"] = values
            columns[f"share_{which}"] = fractions
    if attribution.change is not None:
        columns["change"] = attribution.change
    return pd.DataFrame(columns)


GRADIENTS = Picture(
    name="compare-gradients",
    figure=_bars,
    table=_table,
    how=(
        "Gradient × input of the {unit}: bars above zero {up}, below {down}. Each checkpoint's "
        "bars are divided by the sum of their absolute values, since the two differ in confidence. "
        "It is a first-order estimate, not a proof of cause. The lower bars are the second minus "
        "the first."
    ),
    code="""
from bertcore.analysis.compare.checkpoints import compare_gradients

both = compare_gradients(first, second, traces, question, {answers}, {places})
fractions = [part and part.fractions() for part in both]   # [T] each
""",
)


@frame.section("Which tokens support it")
def show_gradients(
    case: Case, kind: str, answers: Answers, places: tuple[int, int], question_code: str
) -> None:
    """Draw which tokens support the answer, in both.

    Args:
        kind: Of the question.
        answers: Number of the answer in each.
        places: Place of the question in each.
    """
    wording: dict[str, Any] = {
        "unit": "log-odds of the answer",
        "up": "support it",
        "down": "oppose it",
    }
    if kind == "score":
        wording = {"unit": "score", "up": "raise it", "down": "lower it"}
    GRADIENTS.show(
        None,
        _attribution(case, kind, answers, places),
        drawn={"names": case.names},
        setup=code_of(case) + question_code,
        with_caption=False,
        answers=answers,
        places=places,
        **wording,
    )
    if not case.comparison.units.are_tokens:
        st.caption(MERGED_WORDS)
    GRADIENTS.caption(**wording)


def _attribution(case: Case, kind: str, answers: Answers, places: tuple[int, int]) -> Attribution:
    """Return the attribution of an answer, summed over the pieces if words are compared."""
    units = case.comparison.units
    values: list[NDArray[np.float32] | None] = []
    fractions: list[NDArray[np.float32] | None] = []
    for side, gradients in enumerate(case.gradients(kind, answers, places)):
        if gradients is None:
            values.append(None)
            fractions.append(None)
        else:
            values.append(units.merged_sums(gradients.values, side).numpy())
            fractions.append(units.merged_sums(gradients.fractions(), side).numpy())
    tokens = [unit.name for unit in units.units]
    return Attribution(tokens, (values[0], values[1]), (fractions[0], fractions[1]))
