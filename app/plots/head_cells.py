"""Clickable cells of a grid of heads, the open head framed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import theme
from .figure import Figure, Properties
from .similarity_map import lay_out_cells


def clickable_heads(
    heat: Properties,
    shape: tuple[int, ...],
    *,
    size: float,
    words: Sequence[str],
    hover: str,
    opened: tuple[int, int] | None,
) -> Figure:
    """Return a heat map of heads that can be clicked, the open head framed.

    A heat map's own cells cannot be clicked in Streamlit; transparent points over them can, and
    carry "layer.head" as `customdata`.

    Args:
        heat: The heat map: rows are layers, columns heads.
        shape: [L, H].
        size: Of a point, in pixels.
        words: Text of each cell, layer by layer, for `hover`.
        hover: Plotly's template of what is shown at a point.
        opened: The framed head, or None.
    """
    num_layers, num_heads = shape
    fig = Figure(heat)
    layers, heads = np.divmod(np.arange(num_layers * num_heads), num_heads)
    fig.add(
        "scatter",
        x=heads,
        y=layers,
        mode="markers",
        marker={"symbol": "square", "size": size, "opacity": 0.0},
        customdata=[f"{layer}.{head}" for layer, head in zip(layers, heads, strict=True)],
        text=words,
        hovertemplate=hover,
        showlegend=False,
    )
    if opened is not None:
        layer, head = opened
        fig.add_shape(
            type="rect",
            x0=head - 0.5,
            x1=head + 0.5,
            y0=layer - 0.5,
            y1=layer + 0.5,
            line={"color": theme.ACCENT, "width": 3},
        )
    lay_out_cells(fig, num_layers, num_heads)
    fig.update_layout(dragmode=False, clickmode="event+select")
    return fig


def most_changed(change: NDArray[np.floating], count: int) -> Sequence[tuple[int, int]]:
    """Return (layer, head) of the heads that attend most differently, without 0 and NaN."""
    order = np.argsort(-np.nan_to_num(change), axis=None, kind="stable")[:count]
    places = [divmod(int(place), change.shape[1]) for place in order]
    return [(layer, head) for layer, head in places if change[layer, head] > 0]
