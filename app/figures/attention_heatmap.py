"""Attention as a heat map: rows look, columns are looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from app import theme

MAX_NUMBERED = 20
"""Most tokens for which each cell shows its number."""
_MAX_LABEL = 16  # letters


def attention_heatmap(weights: NDArray[np.float32], tokens: Sequence[str], title: str) -> go.Figure:
    """Return the heat map of one head, or of a mean of heads.

    Args:
        weights: [T, T]; row = the token that looks.
        tokens: T strings; any text.
        title: Above the picture.

    Colour follows the square root of the weight, so that faint weights are told apart; the
    numbers in the cells, on hover and at the colour bar are the weights themselves.
    """
    num_tokens = len(tokens)
    # A category axis draws as many names as fit, and more when one zooms in; the place keeps
    # equal tokens apart.
    names = [f"{theme.escape(shorten(token))} {place}" for place, token in enumerate(tokens)]
    top = _top(weights)
    ticks = [value for value in (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0) if value <= top]
    numbered = num_tokens <= MAX_NUMBERED
    fig = go.Figure(
        go.Heatmap(
            z=np.sqrt(weights),
            customdata=weights,
            x=names,
            y=names,
            zmin=0,
            zmax=float(np.sqrt(top)),
            colorscale=theme.SEQUENTIAL,
            xgap=1 if num_tokens <= 40 else 0,
            ygap=1 if num_tokens <= 40 else 0,
            text=weights if numbered else None,
            texttemplate="%{text:.2f}" if numbered else None,
            textfont={"size": 12 if num_tokens <= 14 else 10},
            hovertemplate="<b>%{y}</b> looks at <b>%{x}</b><br>"
            "weight %{customdata:.6f}<extra></extra>",
            colorbar={
                "title": {"text": "weight", "side": "right"},
                "tickvals": [value**0.5 for value in ticks],
                "ticktext": [f"{value:g}" for value in ticks],
                "thickness": 12,
            },
        )
    )
    size = min(1000, max(360, 150 + num_tokens * (32 if num_tokens <= 14 else 22)))
    theme.plot_layout(fig, title, "token looked at, and its place", "token that looks", size)
    label = {"size": 12 if num_tokens <= 40 else 10}
    fig.update_xaxes(type="category", showgrid=False, tickangle=-60, tickfont=label)
    fig.update_yaxes(type="category", showgrid=False, autorange="reversed", tickfont=label)
    if num_tokens <= 36:
        fig.update_xaxes(dtick=1)
        fig.update_yaxes(dtick=1)
    return fig


def heatmap_table(weights: NDArray[np.float32], tokens: Sequence[str]) -> pd.DataFrame:
    """Return the same numbers as a table: one row for each token that looks."""
    columns = [f"{place} {token}" for place, token in enumerate(tokens)]
    table = pd.DataFrame(weights, columns=columns)
    table.insert(0, "looks", columns)
    return table


def shorten(token: str) -> str:
    """Return a token cut to what an axis has room for."""
    return token if len(token) <= _MAX_LABEL else token[: _MAX_LABEL - 1] + "…"


def _top(weights: NDArray[np.float32]) -> float:
    """Return the weight at the end of the colour scale: the largest, but never a speck."""
    return max(0.05, float(weights.max(initial=0.0)))
