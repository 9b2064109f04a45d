"""How much the vectors of each layer changed."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.analysis.compare.before_after import BeforeAfter

from ..plots import theme
from ..plots.before_after import AFTER, BEFORE, thinned
from ..plots.figure import Figure, bar, scatter
from ..plots.formats import shorten


def hidden_bars(runs: BeforeAfter, tokens: Sequence[str]) -> Figure:
    """Draw how much the vectors of each layer changed: the mean as a bar, the maximum as a mark."""
    change = runs.hidden_change
    layers = list(range(len(change)))
    most = change.argmax(1)
    worst = [
        f"most: {theme.escape(shorten(tokens[token], 24))} at {token}: {change[layer, token]:.3g}"
        for layer, token in enumerate(most)
    ]
    fig = Figure(
        bar(
            x=layers,
            y=change.mean(1),
            marker={"color": AFTER, "line_width": 0},
            name="mean of the tokens",
            customdata=worst,
            hovertemplate="layer %{x}: %{y:.3g}<br>%{customdata}<extra></extra>",
        )
    )
    fig.add_trace(
        scatter(
            x=layers,
            y=change.max(1),
            mode="markers",
            marker={"symbol": "line-ew", "size": 14, "line": {"width": 2, "color": BEFORE}},
            name="the token that changed most",
            hoverinfo="skip",
        )
    )
    theme.plot_layout(fig, "", "layer (0: embeddings)", "1 − cosine", 230)
    fig.update_xaxes(tickvals=thinned(layers), showgrid=False)
    fig.update_yaxes(range=[0, max(1e-3, float(change.max()) * 1.12)])
    return fig


def hidden_table(runs: BeforeAfter, tokens: Sequence[str]) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and token."""
    return pd.DataFrame(
        [
            {"layer": layer, "position": i, "token": token, "one_minus_cosine": float(value)}
            for layer, row in enumerate(runs.hidden_change)
            for i, (token, value) in enumerate(zip(tokens, row, strict=True))
        ]
    )
