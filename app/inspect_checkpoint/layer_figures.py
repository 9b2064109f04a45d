"""Conductance of each layer by word, and the faithfulness of each layer's order of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.attribution import Word

from ..plots import theme
from ..plots.figure import Figure, heatmap, scatter, subplots
from ..plots.formats import display_width, shorten
from .attribution_figures import MEASURES, Compared

_MOST_NAMED = 40


class LayerRows(NamedTuple):
    """Conductance of W words in L layers."""

    words: Sequence[Word]
    values: NDArray[np.float32]
    """[L, W]"""
    deltas: NDArray[np.float32]
    """Convergence delta of each layer, [L]."""


def conductance_map(result: LayerRows, *, is_dark: bool) -> Figure:
    """Draw the conductance of each layer (row) and word (column)."""
    words, values, _ = result
    num_layers = len(values)
    names = [theme.escape(shorten(word.text, 14)) for word in words]
    largest = max(float(np.abs(values).max(initial=0.0)), 1e-9)
    fig = Figure(
        heatmap(
            z=values,
            x=list(range(len(words))),
            y=list(range(num_layers)),
            customdata=np.broadcast_to(np.array(names), values.shape),
            colorscale=theme.diverging(is_dark),
            zmin=-largest,
            zmax=largest,
            xgap=1 if len(words) <= 80 else 0,
            ygap=2,
            colorbar=theme.bar_above("against ← conductance → for"),
            hovertemplate="layer %{y}, <b>%{customdata}</b>: %{z:+.4f}<extra></extra>",
        )
    )
    turned = len(words) > 12
    below = 34 + (6 * max(map(display_width, names), default=0) if turned else 0)
    theme.plot_layout(fig, "", "", "layer", 30 * num_layers + below + 66)
    step = max(1, -(-len(words) // _MOST_NAMED))
    places = list(range(0, len(words), step))
    fig.update_xaxes(
        tickvals=places,
        ticktext=[names[i] for i in places],
        tickangle=-60 if turned else 0,
        showgrid=False,
        automargin=False,
    )
    fig.update_yaxes(dtick=1, autorange="reversed", showgrid=False)
    fig.update_layout(margin={"t": 62, "b": below})
    return fig


def conductance_arrays(result: LayerRows) -> dict[str, NDArray[Any]]:
    """Return the numbers as arrays."""
    return {"conductance": result.values, "deltas": result.deltas}


def layer_faithfulness(result: Compared, *, unit: str) -> Figure:
    """Draw both measures of each layer's order of words over that of random orders (dotted).

    Args:
        result: Faithfulness of each layer, in order.
        unit: What is lost: "probability" or "score".
    """
    by_layer, random = list(result.by_order.values()), result.random
    fig = subplots(1, 2, subplot_titles=list(MEASURES.values()), horizontal_spacing=0.1)
    layers = list(range(len(by_layer)))
    for column, measure in enumerate(MEASURES, start=1):
        fig.add_trace(
            scatter(
                x=layers,
                y=[getattr(one, f"mean_{measure}") for one in by_layer],
                mode="lines+markers",
                line={"color": theme.SEGMENT_A, "width": 2},
                marker={"size": 9},
                hovertemplate="layer %{x}: %{y:+.4f}<extra></extra>",
                showlegend=False,
            ),
            row=1,
            col=column,
        )
        mean = float(np.mean([getattr(one, f"mean_{measure}") for one in random]))
        fig.add_hline(y=mean, line={"dash": "dot", "color": theme.SPECIAL}, row=1, col=column)
    theme.plot_layout(fig, "", "layer", "", 230)
    fig.update_xaxes(dtick=1, showgrid=False)
    fig.update_yaxes(title_text=f"{unit} lost", col=1)
    fig.update_annotations(font_size=12)
    fig.update_layout(margin={"t": 30})
    return fig
