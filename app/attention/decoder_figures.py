"""Where a decoder looks while it writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.plots import theme
from app.plots.token_flow import shorten


def decoder_map(
    weights: NDArray[np.float32],
    tokens: Sequence[str],
    columns: Sequence[str],
    written: Sequence[str],
) -> go.Figure:
    """Draw one map of a decoder.

    Args:
        weights: [Td, N], a row for each token of the decoder; rows sum to 1.
        tokens: What the decoder reads, [Td].
        columns: What is looked at, [N].
        written: The most probable next token after each, [Td].
    """
    fig = go.Figure(
        {
            "type": "heatmap",
            # By the square root, as in the other maps, so that small weights are seen too.
            "z": np.sqrt(weights),
            "text": weights,
            "customdata": [[theme.escape(shorten(word))] * len(columns) for word in written],
            "zmin": 0,
            "zmax": 1,
            "colorscale": theme.SEQUENTIAL,
            "colorbar": {
                "title": {"text": "weight"},
                "thickness": 10,
                "tickvals": [0, 0.1**0.5, 0.5, 0.5**0.5, 1],
                "ticktext": ["0", "0.1", "0.25", "0.5", "1"],
            },
            "hovertemplate": "row %{y}, column %{x}<br>weight %{text:.3f}"
            "<br>writes next: %{customdata}<extra></extra>",
        }
    )
    height = 110 + 22 * max(6, len(tokens))
    theme.plot_layout(fig, "", "token that is looked at", "decoder", height)
    for axis, names in (("xaxis", columns), ("yaxis", tokens)):
        fig.layout[axis].update(
            tickmode="array",
            tickvals=list(range(len(names))),
            ticktext=[theme.escape(shorten(name)) for name in names],
        )
    fig.update_yaxes(autorange="reversed")
    return fig
