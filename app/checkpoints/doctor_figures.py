"""Figures of a diagnosis: the spectrum of each matrix, and the attention entropy of each head."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.health.checkpoint_doctor import Diagnosis

from ..plots import theme
from ..plots.figure import Figure, heatmap

KINDS = {
    "attention.query": "query",
    "attention.key": "key",
    "attention.value": "value",
    "attention.output": "attention output",
    "feed_forward.intermediate": "feed-forward, in",
    "feed_forward.output": "feed-forward, out",
    "attention.qkv": "query, key, value",
}
"""Names of a layer's matrices, by our names of their tensors."""
TICKS = [0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100]
"""Of the logarithmic scale."""


def spectrum_dots(diagnosis: Diagnosis) -> Figure:
    """Draw each matrix's largest singular value beside that of random numbers (the line at 1)."""
    fig = Figure()
    for place, (part, kind) in enumerate(KINDS.items()):
        chosen = [m for m in diagnosis.matrices if m.name.endswith(f".{part}.weight")]
        if not chosen:
            continue
        fig.add(
            "scatter",
            x=[int(matrix.name.split(".")[1]) for matrix in chosen],
            y=[matrix.edge for matrix in chosen],
            name=kind,
            mode="markers",
            marker={"size": 9, "color": theme.CATEGORICAL[place], "symbol": place},
            customdata=[[matrix.name, matrix.std] for matrix in chosen],
            hovertemplate="<b>%{customdata[0]}</b><br>%{y:.2f} times the edge of chance<br>"
            "spread %{customdata[1]:.4f}<extra></extra>",
        )
    fig.add_hline(y=1, line={"dash": "dot", "color": theme.SPECIAL})
    theme.plot_layout(fig, "", "layer", "largest singular value, times chance", 360)
    fig.update_layout(margin={"t": 56})
    fig.update_xaxes(dtick=1, showgrid=False)
    edges = [matrix.edge for matrix in diagnosis.matrices if not math.isnan(matrix.edge)]
    # Wide enough that chance deviations around 1 look as small as they are.
    low, high = min([0.8, *edges]), max([2.0, *edges])
    fig.update_yaxes(type="log", tickvals=TICKS, range=[math.log10(low), math.log10(high * 1.1)])
    return fig


def spectrum_table(diagnosis: Diagnosis) -> pd.DataFrame:
    """Return a row for each matrix."""
    rows = [(m.name, m.std, m.edge, m.limit, m.looks_random) for m in diagnosis.matrices]
    columns = ["matrix", "spread", "largest singular value, times chance", "limit", "looks random"]
    return pd.DataFrame(rows, columns=columns)


def entropy_map(diagnosis: Diagnosis) -> Figure:
    """Draw how evenly each head spreads its attention, layers from top to bottom."""
    num_layers, num_heads = diagnosis.entropies.shape
    fig = Figure(
        heatmap(
            z=diagnosis.entropies.round(4),
            x=list(range(num_heads)),
            y=list(range(num_layers)),
            zmin=0,
            zmax=1,
            colorscale=theme.SEQUENTIAL,
            colorbar=theme.bar_beside("entropy"),
            hovertemplate="layer %{y}, head %{x}: %{z:.3f} of uniform attention<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", "head", "layer", 110 + max(22, 34 - num_layers) * num_layers)
    fig.update_xaxes(dtick=1, showgrid=False)
    fig.update_yaxes(dtick=1, showgrid=False, autorange="reversed")
    return fig


def entropy_arrays(diagnosis: Diagnosis) -> dict[str, NDArray[np.floating]]:
    """Return the entropy of each head, [L, H]."""
    return {"entropies": diagnosis.entropies}
