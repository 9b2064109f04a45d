"""How widely each head's attention is spread over a run: a head forms where it becomes focused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.heads.entropy_history import HeadHistory

from ..plots import theme
from ..plots.figure import Figure, heatmap


def heads_arrays(history: HeadHistory) -> dict[str, NDArray]:  # type: ignore[type-arg]
    """Return steps [S], spread [S, L, H] and each head's favourite."""
    return {
        "steps": np.asarray(history.steps),
        "spread": history.spread,
        "favourite": np.asarray(history.favourite),
    }


def heads_over_time(history: HeadHistory) -> Figure:
    """Draw how spread the attention of every head is, from the run's start to now."""
    num_moments, num_layers, num_heads = history.spread.shape
    names = [f"layer {i} head {j}" for i in range(num_layers) for j in range(num_heads)]
    fig = Figure(
        heatmap(
            z=history.spread.reshape(num_moments, -1).T.round(4),
            x=[str(step) for step in history.steps],
            y=names,
            zmin=0,
            zmax=1,
            colorscale=theme.SEQUENTIAL,
            colorbar=theme.bar_beside("spread"),
            hovertemplate="<b>%{y}</b> at step %{x}: %{z:.3f}<extra></extra>",
        )
    )
    height = min(700, 130 + max(16, 26 - len(names) // 4) * len(names))
    theme.plot_layout(fig, "How widely each head's attention is spread", "step", "", height)
    fig.update_xaxes(type="category", showgrid=False, nticks=12)
    fig.update_yaxes(showgrid=False, autorange="reversed", tickfont={"size": 11})
    return fig
