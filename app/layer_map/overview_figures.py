"""The layer map's overview: one small scatter plot for each layer."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plots import Figure, Properties, subplots, theme
from .places import display_places, reach_of, rounded
from .point_styles import SYMBOLS, Mapped, Marks

MAX_OVERVIEW = 600
"""Points in each small picture of the overview; they are spread evenly over the table."""


def overview(mapped: Mapped, *, columns: int = 5) -> Figure:
    """Draw every layer as a small picture; a 3-D map shows its first two axes."""
    _, layer_map, marks = mapped
    places = display_places(layer_map)
    num_layers = len(places)
    columns = min(columns, num_layers)
    num_rows = -(-num_layers // columns)
    height = 30 + 200 * num_rows
    fig = subplots(
        num_rows,
        columns,
        subplot_titles=[layer_name(i) for i in range(num_layers)],
        horizontal_spacing=0.015,
        vertical_spacing=40 / height,
    )
    kept = np.unique(np.linspace(0, places.shape[1] - 1, MAX_OVERVIEW).astype(int))
    marker = small_marker(marks, kept)
    for index, place in enumerate(places):
        fig.add(
            "scatter",
            row=index // columns + 1,
            col=index % columns + 1,
            x=rounded(place[kept, 0]),
            y=rounded(place[kept, 1]),
            mode="markers",
            marker=marker,
            # The full hover texts of every layer would be most of the message.
            hovertext=[marks.labels[i] for i in kept],
            hoverinfo="text",
            showlegend=False,
        )
    theme.plot_layout(fig, "", "", "", height)
    reach = reach_of(places[..., :2])
    box: Properties = {
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "showline": True,
        "mirror": True,
        "linecolor": theme.GRID,
        # There are no tick labels; automatic margins would move frames over their neighbours.
        "automargin": False,
    }
    fig.update_xaxes(range=[-reach[0], reach[0]], **box)
    fig.update_yaxes(range=[-reach[1], reach[1]], **box)
    fig.update_annotations(font_size=12, yshift=5, yanchor="bottom")
    # Streamlit's template draws the frames 8 pixels outside the panels: over each other, and cut.
    fig.update_layout(margin={"t": 30, "l": 2, "r": 10, "pad": 0})
    return fig


def overview_arrays(mapped: Mapped) -> dict[str, NDArray[Any]]:
    """Return the full vectors [L+1, N, D], the coordinates, and what each point is."""
    table, layer_map, _ = mapped
    return {
        "vectors": table.vectors,
        "coordinates": layer_map.coordinates,
        "tokens": np.array(table.tokens),
        "words": np.array(table.words),
        "sentence_ids": np.array(table.sentence_ids),
        "labels": np.array(table.labels),
    }


def layer_name(layer: int) -> str:
    """Return the label of a hidden state."""
    return "embeddings" if layer == 0 else f"layer {layer}"


def small_marker(marks: Marks, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return one marker for many points, a colour for each; it makes no legend."""
    colouring, codes = marks.colouring, marks.colouring.codes[rows]
    marker: dict[str, Any] = {"size": 5, "opacity": 0.85}
    if marks.highlighted.any():
        marker["opacity"] = np.where(marks.highlighted[rows], 0.95, 0.3).tolist()
    if not colouring.groups:
        return marker | {"color": codes.tolist(), "colorscale": theme.SEQUENTIAL}
    marker["color"] = [colouring.colours[code] for code in codes]
    if colouring.title == "label":
        marker["symbol"] = [SYMBOLS[code % len(SYMBOLS)] for code in codes]
    return marker
