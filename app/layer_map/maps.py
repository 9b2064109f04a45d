"""The layer map and its overview."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.space.projection import METHODS

from ..layer_watch.layer_watch import layer_watch
from ..plots import Figure, Properties, cell_table, player, subplots, theme
from ..plots.charts import layer_names
from ..shell import Picture, frame
from ..shell.links import MAP_LAYER as LAYER
from .points import (
    SYMBOLS,
    Mapped,
    PointMarks,
    at,
    bare_axes,
    display_places,
    kind_of,
    names_at,
    parts_of,
    points,
    reach_of,
    rings,
    rounded,
    trails,
)

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
        subplot_titles=layer_names(num_layers),
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
    bare_axes(fig, reach_of(places[..., :2]))
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


def small_marker(marks: PointMarks, rows: NDArray[np.int64]) -> dict[str, Any]:
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


MAX_TRAILS = 12  # most highlighted points whose paths through the layers are drawn
STEP_MS = 700
HEIGHT = 600
CAMERA = {"eye": {"x": 1.2, "y": 1.2, "z": 0.7}}
TWEENS = 6  # frames between two layers when a 3-D map plays: Plotly animates 2-D points only


def travel(mapped: Mapped, *, layer: int, ink: str = "") -> Figure:
    """Draw one layer's points, with a slider and a play button that move them through all layers.

    Args:
        mapped: The points, in two or three dimensions.
        layer: The layer shown first.
        ink: Colour of the names; empty for the theme's.
    """
    _, layer_map, marks = mapped
    places = display_places(layer_map)
    num_layers, _, dims = places.shape
    layer = min(max(layer, 0), num_layers - 1)
    parts = parts_of(marks)
    names = names_at(places, marks)
    fig = Figure([points(places[layer], marks, part, names, ink) for part in parts])
    moving = list(range(len(parts)))
    if marks.highlighted.any():
        is_one_frame = layer_map.space == "joint" or layer_map.method != "pca"
        if is_one_frame and marks.highlighted.sum() <= MAX_TRAILS:
            fig.add_traces(trails(places[:, marks.highlighted], dims))
        fig.add_trace(rings(places[layer][marks.highlighted], dims))
        moving.append(len(fig.traces) - 1)
    rows = [part[0] for part in parts]
    if marks.highlighted.any():
        rows.append(np.flatnonzero(marks.highlighted))
    kind = kind_of(dims)
    fig.stages = [
        {
            "name": name,
            "data": [{"type": kind, **at(place[row], dims)} for row in rows],
            "traces": moving,
        }
        for name, place in _stations(places, dims)
    ]
    axes = [f"{METHODS[layer_map.method]} axis {axis + 1}" for axis in range(dims)]
    theme.plot_layout(fig, "", axes[0], axes[1], HEIGHT)
    _frame_axes(fig, places, axes)
    _controls(fig, num_layers, layer, dims)
    fig.update_layout(
        legend={
            "title": {"text": marks.colouring.title},
            "itemsizing": "constant",
            "orientation": "v",
            "x": 1.02,
            "y": 0.94,
            "yanchor": "top",
            "bgcolor": "rgba(0, 0, 0, 0)",
            "font": {"size": 12},
        },
        uirevision=f"{dims}",
        hovermode="closest",
    )
    return fig


def _stations(places: NDArray[np.floating], dims: int) -> list[tuple[str, NDArray[np.floating]]]:
    """Return name and points of each frame: the layers, and what is between them in 3-D."""
    stations = [(str(layer), place) for layer, place in enumerate(places)]
    if dims == 2:
        return stations
    for layer in range(len(places) - 1):
        for step in range(1, TWEENS):
            fraction = step / TWEENS
            eased = fraction * fraction * (3 - 2 * fraction)
            between = (1 - eased) * places[layer] + eased * places[layer + 1]
            stations.append((f"{layer}+{step}", between))
    return stations


def _frame_axes(fig: Figure, places: NDArray[np.floating], names: list[str]) -> None:
    """Fix the axes over all layers, so that only the points move."""
    reach = reach_of(places)
    if places.shape[-1] == 2:
        box: Properties = {
            "showline": True,
            "mirror": True,
            "linecolor": theme.GRID,
            "showgrid": False,
        }
        fig.update_xaxes(range=[-reach[0], reach[0]], showticklabels=False, **box)
        fig.update_yaxes(range=[-reach[1], reach[1]], showticklabels=False, **box)
        fig.update_yaxes(scaleanchor="x", scaleratio=1)
        return
    axes = {
        f"{letter}axis": {
            "title": {"text": name, "font": {"size": 11}},
            "range": [-size, size],
            "showticklabels": False,
            "gridcolor": theme.GRID,
            "showbackground": False,
            "zeroline": False,
            "showspikes": False,
        }
        for letter, name, size in zip("xyz", names, reach, strict=True)
    }
    fig.update_layout(scene={**axes, "aspectmode": "data", "camera": CAMERA})


def _controls(fig: Figure, num_layers: int, layer: int, dims: int) -> None:
    """Add the slider over layers and the buttons that play and stop."""
    smooth = {"duration": STEP_MS if dims == 2 else 0, "easing": "cubic-in-out"}
    redraw = dims == 3  # Plotly animates 2-D points; a 3-D scene is redrawn
    jump = {"frame": {"duration": 0 if redraw else STEP_MS, "redraw": redraw}}
    steps = [
        {
            "label": str(i),
            "method": "animate",
            "args": [[str(i)], {**jump, "mode": "immediate", "transition": smooth}],
        }
        for i in range(num_layers)
    ]
    route = [str(0)]
    for i in range(1, num_layers):
        route += [f"{i - 1}+{step}" for step in range(1, TWEENS)] if redraw else []
        route.append(str(i))
    pace = {
        "frame": {"duration": STEP_MS / TWEENS if redraw else STEP_MS + 300, "redraw": redraw},
        "transition": smooth,
        "mode": "immediate",
    }
    room = {"t": 44, "b": 4} if dims == 2 else {"t": 20, "b": 4}
    below = {"y": 0, "yanchor": "top", "pad": {"t": 36 if dims == 2 else 12}}
    fig.update_layout(
        sliders=[player.slider(steps, active=layer, prefix="Layer ", y=0, pad=room)],
        updatemenus=[player.buttons(route, pace, **below)],
    )


def coordinates_table(mapped: Mapped) -> pd.DataFrame:
    """Return one row for each point at each layer: what it is and where it is."""
    table, layer_map, _ = mapped
    axes = dict(zip("xyz", np.moveaxis(layer_map.coordinates, 2, 0), strict=False))
    points = {
        "token": table.tokens,
        "word": table.words,
        "sentence": table.sentence_ids + 1,
        "position": table.positions,
        "segment": table.segment_ids,
        "label": table.labels,
    }
    rows = cell_table({"layer": range(len(layer_map.coordinates))}, points, **axes)
    texts = [table.sentences[i].text for i in table.sentence_ids]
    return rows.assign(text=texts * len(layer_map.coordinates))


LAYER_MAP = Picture(
    name="layer-map",
    figure=travel,
    table=coordinates_table,
    how=(
        "Each point is a token (or a word, or a sentence); near points have similar vectors. Move "
        "the slider, or press Play, to follow them from the embeddings (layer 0) to the last "
        "layer. {method} Search for a word to ring it and see its path. Under *More*: with *one "
        "map for all*, a place means the same in every layer (with *Align centre and size* on, all "
        "layers first get the same centre and size); with *each by itself*, every layer has its "
        "own best view, rotated to fit the one before."
    ),
    code="""
layer_map.coordinates                       # [L+1, N, dims]
""",
)
READING = {
    "pca": (
        "PCA shows the directions in which the points differ most and hides all others; *How "
        "faithful is the map?* shows how much of the variance they carry."
    ),
    "umap": (
        "UMAP preserves neighbourhoods, not large distances: read who is near whom, not the size "
        "of a cluster or the gap between two. Change the seed and the number of neighbours under "
        "*More*: what moves with the seed is chance; what stays may come from the PCA start, so "
        "compare with the curve of shared neighbours."
    ),
    "tsne": (
        "t-SNE keeps each point's nearest neighbours; the size of a cluster, its density and the "
        "gap between two mean nothing. Change the perplexity under *More*: do not trust groups "
        "that are seen at one perplexity only."
    ),
}
"""How to read a map, by its method."""
OVERVIEW = Picture(
    name="layer-map-vectors",
    figure=overview,
    table=overview_arrays,
    how=(
        "The same map, one panel for each layer, starting with the embeddings; colours as above. "
        "Of more than 600 points, 600 are drawn, evenly spaced; of a 3-D map, the first two axes."
    ),
    code="""
table.vectors, layer_map.coordinates        # [L+1, N, D], [L+1, N, dims]
""",
)


def show_map(page: frame.Page, mapped: Mapped, code: str) -> None:
    """Draw the map with its slider over the layers."""
    keep_layer(page.bert.config.num_hidden_layers)
    method = READING[mapped.layer_map.method]
    drawn = {"layer": LAYER.value, "ink": theme.INK[page.is_dark]}
    LAYER_MAP.show(page, mapped, drawn=drawn, setup=code, method=method)


@frame.fragment
def keep_layer(num_layers: int) -> None:
    """Keep the layer of the slider; the figure itself does not run again."""
    layer = layer_watch(".st-key-figure_layer-map", key="map_watch")
    if layer is not None:
        st.session_state[LAYER.name] = layer
    LAYER.key(default=num_layers, low=0, high=num_layers)
