"""Answers as pairs of bars: the probability of each, before and after."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from . import theme
from .before_after import AFTER, BEFORE, difference
from .figure import Figure
from .formats import percent, shorten, signed
from .untrusted_text import label_name

COLOURS = (BEFORE, AFTER)
"""Of the first and the second checkpoint, in every picture of the page."""
_ROW = 34


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Some answers at one place, with both probabilities."""

    names: tuple[str, ...]
    """[R]"""
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Of the first and the second, each [R]; NaN if a checkpoint has no such answer."""
    num_more: int
    """Answers that are left out."""


def answer_bars(rows: AnswerRows, names: tuple[str, str], kind: str) -> Figure:
    """Draw the answers as pairs of bars: the first checkpoint grey, the second blue.

    Args:
        rows: From `answer_rows`.
        names: Of the checkpoints; any text.
        kind: Of the question; the numbers of a "score" are not probabilities.
    """
    is_score = kind == "score"
    places = list(range(len(rows.names)))
    is_label = kind in ("class", "labels")
    named = [label_name(name) for name in rows.names] if is_label else rows.names
    labels = [theme.escape(shorten(name, 26)) for name in named]
    fig = Figure()
    for values, name, colour, number in zip(rows.values, names, COLOURS, (0, 1), strict=True):
        form = "%{x:.4g}" if is_score else "%{x:.3%}"
        fig.add(
            "bar",
            x=np.nan_to_num(values),
            y=places,
            orientation="h",
            name=theme.escape(name),
            offsetgroup=str(number),
            marker={"color": colour, "line_width": 0},
            customdata=labels,
            hovertemplate=f"%{{customdata}}, {theme.escape(name)}: {form}<extra></extra>",
        )
    first, second = rows.values
    top = float(np.nanmax(np.abs(np.stack(rows.values)), initial=1e-6))
    fig.add(
        "scatter",
        x=np.maximum(np.nan_to_num(np.fmax(first, second)), 0),
        y=places,
        mode="text",
        text=[_change(p, q, is_score=is_score) for p, q in zip(first, second, strict=True)],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    theme.plot_layout(fig, "", "", "", _ROW * len(places) + 44)
    fig.update_layout(
        barmode="group",
        bargap=0.28,
        margin={"l": 0, "r": 0, "t": 32, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    low = min(0.0, float(np.nanmin(np.stack(rows.values), initial=0.0)))
    fig.update_xaxes(visible=False, range=[1.1 * low, top * 1.75])
    fig.update_yaxes(
        tickvals=places,
        ticktext=[f"<b>{label}</b>" for label in labels],
        range=[len(places) - 0.5, -0.5],
        showgrid=False,
    )
    return fig


def _change(first: float, second: float, *, is_score: bool) -> str:
    if is_score:
        texts = ["–" if math.isnan(value) else f"{value:.3g}" for value in (first, second)]
        moved = "" if math.isnan(first + second) else f"  {signed(second - first)}"
        return f"  {texts[0]} → <b>{texts[1]}</b>{moved}"
    texts = ["–" if math.isnan(value) else percent(value) for value in (first, second)]
    both = not math.isnan(first + second)
    return f"  {texts[0]} → <b>{texts[1]}</b>  {difference(first, second) if both else ''}"


def answer_table(rows: AnswerRows) -> pd.DataFrame:
    """Return the answers as a table."""
    first, second = rows.values
    return pd.DataFrame(
        {"answer": rows.names, "first": first, "second": second, "difference": second - first}
    )
