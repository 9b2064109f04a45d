"""Figures of what comes back to a place, and of how much it helps."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.words.leakage import Leakage

from ..plots import theme
from ..plots.figure import Figure, bar
from ..plots.formats import ON_AXIS, shorten

MOST_NAMED = 60
"""Above this many tokens an axis shows places instead of words."""
LEAST = 1e-4
"""A share below this is only rounding residue."""
COLOURS = (theme.SEGMENT_A, theme.SEGMENT_B)


class ByNetwork(Protocol):
    """Shares of what comes back, by network."""

    def shares(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.float32]]]:
        """Return the tokens and the share of each that comes back."""
        ...


def returned_bars(returned: ByNetwork, chosen: int | None = None) -> Figure:
    """Draw how much of each token comes back, a bar for each network."""
    fig = Figure()
    shares = returned.shares()
    first, _ = next(iter(shares.values()))
    for (name, (tokens, found)), colour in zip(shares.items(), COLOURS, strict=False):
        nothing = float(found.max()) < LEAST
        fig.add_trace(
            bar(
                x=list(range(len(tokens))),
                y=found,
                name=f"{name}: nothing" if nothing else name,
                marker_color=colour,
                customdata=[theme.escape(shorten(token)) for token in tokens],
                hovertemplate=f"{name}: %{{y:.1%}} of %{{customdata}} comes back<extra></extra>",
            )
        )
    theme.plot_layout(fig, "", "", "comes back over two layers", 330)
    fig.update_layout(barmode="group", showlegend=True, legend_font={"size": 14})
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    if len(first) <= MOST_NAMED:
        names = [theme.escape(shorten(token, ON_AXIS)) for token in first]
        if chosen is not None and 0 <= chosen < len(names):
            names[chosen] = f"<b>{names[chosen]}</b>"
        fig.update_xaxes(
            tickmode="array",
            tickvals=list(range(len(first))),
            ticktext=names,
            tickangle=-50,
            tickfont={"size": 14},
        )
    return fig


def helped_lines(leaked: Leakage) -> Figure:
    """Draw the probability of the word against the layers in which the others had read it."""
    fig = Figure()
    fig.add(
        "scatter",
        x=list(range(len(leaked.probabilities))),
        y=leaked.probabilities,
        mode="lines+markers+text",
        text=[
            f"{theme.escape(shorten(best, 12))}" if best != leaked.token else "✓"
            for best in leaked.best
        ],
        textposition="top center",
        cliponaxis=False,
        line={"color": theme.ACCENT, "width": 3},
        marker={"size": 10, "color": theme.ACCENT},
        customdata=[theme.escape(shorten(best)) for best in leaked.best],
        hovertemplate="%{y:.2%}; best guess %{customdata}<extra></extra>",
        showlegend=False,
    )
    word = theme.escape(shorten(leaked.token, 16))
    theme.plot_layout(fig, "", "layers in which the others had read it", f"p({word})", 300)
    fig.update_layout(margin={"t": 34})
    fig.update_xaxes(dtick=1)
    top = float(leaked.probabilities.max())
    fig.update_yaxes(tickformat=".0%" if top > 0.05 else ".1%", rangemode="tozero")
    return fig


def helped_table(leaked: Leakage) -> pd.DataFrame:
    """Return a row for each number of layers."""
    return pd.DataFrame(
        {
            "layers_read": range(len(leaked.probabilities)),
            "probability": leaked.probabilities,
            "best": leaked.best,
        }
    )
