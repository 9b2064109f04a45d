"""The layer map: points that travel from layer to layer, in two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from app import theme
from app.figures.label_places import label_places
from app.figures.layer_map_points import Colouring
from bertcore.analysis.projection import LayerMap

MAX_LABELS = {2: 60, 3: 25}
"""With more points than this in 2-D and 3-D names are drawn for the found ones only."""
MAX_TRAILS = 12
"""Paths through the layers are drawn for as many found points."""
MAX_OVERVIEW = 600
"""Points in each small picture of the overview; they are spread evenly over the table."""
INK = {False: "#1B2233", True: "#E6E9F2"}
"""Colour of names on light and on dark ground: the themes' text colours."""
STEP_MS = 700
CAMERA = {"eye": {"x": 1.2, "y": 1.2, "z": 0.7}}
TWEENS = 6
"""Pictures between two layers when a 3-D map plays: Plotly moves 2-D points by itself only."""

SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up", "star")
SYMBOLS_3D = ("circle", "diamond", "square", "cross", "circle-open", "diamond-open")


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What is drawn at each point besides its place."""

    colouring: Colouring
    hover: Sequence[str]
    """Escaped text of the hover, [N]."""
    labels: Sequence[str]
    """Escaped short name, [N]."""
    found: NDArray[np.bool_]
    """True for the points that the visitor searched for, [N]."""


def travel(
    found: LayerMap, marks: Marks, *, layer: int, ink: str = "", height: int = 600
) -> go.Figure:
    """Draw one layer's points, with a slider and a play button that move them through all layers.

    Args:
        found: Coordinates [L+1, N, 2 or 3].
        marks: Colours, hovers and names of the N points.
        layer: The layer shown first.
        ink: Colour of the names; empty for the theme's.
        height: In pixels.
    """
    places = display_places(found)
    num_layers, _, dims = places.shape
    layer = min(max(layer, 0), num_layers - 1)
    parts = _parts(marks)
    names = _names(places, marks)
    fig = go.Figure([_points(places[layer], marks, part, names, ink) for part in parts])
    moving = list(range(len(parts)))
    if marks.found.any():
        if found.space == "joint" and marks.found.sum() <= MAX_TRAILS:
            fig.add_traces(_trails(places[:, marks.found], dims))
        fig.add_trace(_rings(places[layer][marks.found], dims))
        moving.append(len(fig.data) - 1)
    rows = [part[0] for part in parts]
    if marks.found.any():
        rows.append(np.flatnonzero(marks.found))
    kind = "scatter" if dims == 2 else "scatter3d"
    fig.frames = [
        go.Frame(
            name=name,
            data=[{"type": kind, **_at(place[row], dims)} for row in rows],
            traces=moving,
        )
        for name, place in _stations(places, dims)
    ]
    axes = [f"{found.method.upper()} axis {axis + 1}" for axis in range(dims)]
    theme.plot_layout(fig, "", axes[0], axes[1], height)
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


def overview(found: LayerMap, marks: Marks, *, columns: int = 5) -> go.Figure:
    """Draw every layer as a small picture; a 3-D map shows its first two axes."""
    places = display_places(found)
    num_layers = len(places)
    columns = min(columns, num_layers)
    num_rows = -(-num_layers // columns)
    height = 30 + 195 * num_rows
    fig = make_subplots(
        num_rows,
        columns,
        subplot_titles=[layer_name(i) for i in range(num_layers)],
        horizontal_spacing=0.015,
        vertical_spacing=30 / height,
    )
    kept = np.unique(np.linspace(0, places.shape[1] - 1, MAX_OVERVIEW).astype(int))
    marker = _small_marker(marks, kept)
    fig.add_traces(
        [
            go.Scatter(
                x=_round(place[kept, 0]),
                y=_round(place[kept, 1]),
                mode="markers",
                marker=marker,
                # The whole hover at each layer would be most of the message.
                hovertext=[marks.labels[i] for i in kept],
                hoverinfo="text",
                showlegend=False,
            )
            for place in places
        ],
        rows=[index // columns + 1 for index in range(num_layers)],
        cols=[index % columns + 1 for index in range(num_layers)],
    )
    theme.plot_layout(fig, "", "", "", height)
    reach = _reach(places[..., :2])
    box = {
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "showline": True,
        "mirror": True,
        "linecolor": theme.GRID,
        # There are no names to make room for; making it anyway moves frames over their neighbours.
        "automargin": False,
    }
    fig.update_xaxes(range=[-reach[0], reach[0]], **box)
    fig.update_yaxes(range=[-reach[1], reach[1]], **box)
    fig.update_annotations(font_size=12, yshift=8, yanchor="bottom")
    fig.update_layout(margin={"t": 30, "l": 2, "r": 10})
    return fig


def layer_name(layer: int) -> str:
    """Return what a hidden state is called."""
    return "embeddings" if layer == 0 else f"layer {layer}"


def display_places(found: LayerMap) -> NDArray[np.float32]:
    """Return the coordinates centred for the eye, [L+1, N, dims].

    Maps of each layer by itself are brought to one size too: their units have nothing in common.
    """
    places = found.coordinates
    if found.space == "joint":
        finite = places.reshape(-1, places.shape[-1])
        low, high = np.nanmin(finite, 0), np.nanmax(finite, 0)
        return places - (low + high) / 2
    places = places - np.nanmean(places, axis=1, keepdims=True)
    size = np.sqrt(np.nanmean((places**2).sum(-1), axis=1))[:, None, None]
    return np.divide(places, size, out=np.zeros_like(places), where=size > 0)


def _parts(marks: Marks) -> list[tuple[NDArray[np.int64], int]]:
    """Return the rows and code of each group; a scale is one group."""
    codes = marks.colouring.codes
    if not marks.colouring.groups:
        return [(np.arange(len(codes)), 0)]
    return [(np.flatnonzero(codes == code), code) for code in range(len(marks.colouring.groups))]


def _group_name(colouring: Colouring, code: int) -> str:
    return theme.escape(colouring.groups[code]) if colouring.groups else colouring.title


def _names(places: NDArray[np.floating], marks: Marks) -> tuple[list[str], list[str]]:
    """Return the name written at each point and its side; few, or they would hide each other."""
    dims = places.shape[-1]
    written = np.ones(len(marks.labels), dtype=bool)
    if len(marks.labels) > MAX_LABELS[dims]:
        written = marks.found & (marks.found.sum() <= MAX_LABELS[dims])
    names = [label if w else "" for label, w in zip(marks.labels, written, strict=True)]
    if written.sum() > 1 and len(set(names) - {""}) == 1:
        names = [""] * len(names)  # the same name at each point says nothing
    if dims == 3:
        # A 3-D scene writes a name over its point: two spaces keep it beside.
        return [f"\u00a0\u00a0{name}" if name else "" for name in names], ["middle right"] * len(
            names
        )
    sides = label_places(places, names, width=640, height=430)
    names = [name if side else "" for name, side in zip(names, sides, strict=True)]
    return names, [side or "top center" for side in sides]


def _points(
    places: NDArray[np.floating],
    marks: Marks,
    part: tuple[NDArray[np.int64], int],
    names: tuple[list[str], list[str]],
    ink: str,
) -> go.Scatter | go.Scatter3d:
    rows, code = part
    dims = places.shape[-1]
    shown = [names[0][i] for i in rows]
    trace = go.Scatter if dims == 2 else go.Scatter3d
    whole = {"cliponaxis": False} if dims == 2 else {}  # a name at the edge is not cut
    return trace(
        **_at(places[rows], dims),
        **whole,
        mode="markers+text" if any(shown) else "markers",
        text=shown,
        textposition=[names[1][i] for i in rows],
        textfont={"size": 12, **({"color": ink} if ink else {})},
        marker=_marker(marks.colouring, rows, code, dims, dim=marks.found),
        hovertext=[marks.hover[i] for i in rows],
        hoverinfo="text",
        name=_group_name(marks.colouring, code),
        showlegend=bool(marks.colouring.groups),
    )


def _marker(
    colouring: Colouring,
    rows: NDArray[np.int64],
    code: int,
    dims: int,
    *,
    dim: NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    size = (11 if len(colouring.codes) <= 60 else 8) if dims == 2 else 5
    marker: dict[str, Any] = {"size": size, "opacity": 0.85}
    if dims == 2:
        marker["line"] = {"width": 1, "color": "rgba(255, 255, 255, 0.7)"}
        if dim is not None and dim.any():  # the found ones stand out against the rest
            marker["opacity"] = [0.95 if dim[i] else 0.3 for i in rows]
    if colouring.groups:
        marker["color"] = colouring.colours[code]
        symbols = SYMBOLS if dims == 2 else SYMBOLS_3D
        marker["symbol"] = symbols[code % len(symbols)] if colouring.title == "label" else "circle"
    else:
        bar = {"title": {"text": colouring.title}, "thickness": 12, "len": 0.8}
        marker |= {
            "color": colouring.codes[rows].tolist(),
            "colorscale": theme.SEQUENTIAL,
            "showscale": True,
            "colorbar": bar,
        }
    return marker


def _small_marker(marks: Marks, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the marker of many points at once, a colour for each: no legend comes of it."""
    colouring, codes = marks.colouring, marks.colouring.codes[rows]
    marker: dict[str, Any] = {"size": 5, "opacity": 0.85}
    if marks.found.any():
        marker["opacity"] = np.where(marks.found[rows], 0.95, 0.3).tolist()
    if not colouring.groups:
        return marker | {"color": codes.tolist(), "colorscale": theme.SEQUENTIAL}
    marker["color"] = [colouring.colours[code] for code in codes]
    if colouring.title == "label":
        marker["symbol"] = [SYMBOLS[code % len(SYMBOLS)] for code in codes]
    return marker


def _rings(places: NDArray[np.floating], dims: int) -> go.Scatter | go.Scatter3d:
    """Return a ring around each found point."""
    look = {"mode": "markers", "hoverinfo": "skip", "showlegend": False}
    if dims == 2:
        ring = {
            "size": 19,
            "symbol": "circle-open",
            "color": theme.ACCENT,
            "line": {"width": 2.5},
        }
        return go.Scatter(**_at(places, dims), marker=ring, **look)
    ring = {"size": 10, "symbol": "circle-open", "color": theme.ACCENT}
    return go.Scatter3d(**_at(places, dims), marker=ring, **look)


def _trails(places: NDArray[np.floating], dims: int) -> list[go.Scatter | go.Scatter3d]:
    """Return the path of each found point through the layers, from [L+1, N, dims]."""
    trace = go.Scatter if dims == 2 else go.Scatter3d
    line = {"color": theme.ACCENT, "width": 1 if dims == 2 else 2}
    return [
        trace(
            **_at(places[:, point], dims),
            mode="lines",
            line=line,
            opacity=0.45,
            hoverinfo="skip",
            showlegend=False,
        )
        for point in range(places.shape[1])
    ]


def _at(places: NDArray[np.floating], dims: int) -> dict[str, Any]:
    """Return x, y and z of points as lists: Plotly does not move packed arrays smoothly."""
    return {name: _round(places[:, axis]) for axis, name in enumerate("xyz"[:dims])}


def _round(values: NDArray[np.floating]) -> list[float | None]:
    return [None if value != value else float(f"{value:.4g}") for value in values.tolist()]


def _stations(places: NDArray[np.floating], dims: int) -> list[tuple[str, NDArray[np.floating]]]:
    """Return name and points of each frame: the layers, and what is between them in 3-D."""
    stations = [(str(layer), place) for layer, place in enumerate(places)]
    if dims == 2:
        return stations
    for layer in range(len(places) - 1):
        for step in range(1, TWEENS):
            share = step / TWEENS
            eased = share * share * (3 - 2 * share)
            between = (1 - eased) * places[layer] + eased * places[layer + 1]
            stations.append((f"{layer}+{step}", between))
    return stations


def _reach(places: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return half the width to show along each axis, with a margin."""
    flat = np.abs(places.reshape(-1, places.shape[-1]))
    reach: NDArray[np.floating] = 1.1 * np.nanmax(flat, axis=0)
    return np.where(reach > 0, np.maximum(reach, 0.15 * reach.max()), 1.0)


def _frame_axes(fig: go.Figure, places: NDArray[np.floating], names: list[str]) -> None:
    """Fix the axes over all layers, so that only the points move."""
    reach = _reach(places)
    if places.shape[-1] == 2:
        box = {"showline": True, "mirror": True, "linecolor": theme.GRID, "showgrid": False}
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


def _controls(fig: go.Figure, num_layers: int, layer: int, dims: int) -> None:
    """Add the slider over layers and the buttons that play and stop."""
    smooth = {"duration": STEP_MS if dims == 2 else 0, "easing": "cubic-in-out"}
    redraw = dims == 3  # Plotly moves 2-D points by itself; a 3-D scene is drawn again
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
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    fig.update_layout(
        sliders=[
            {
                "active": layer,
                "steps": steps,
                "y": 0,
                "pad": {"t": 44 if dims == 2 else 20, "b": 4},
                "currentvalue": {"prefix": "Layer ", "font": {"size": 15}, "xanchor": "left"},
                "tickcolor": theme.GRID,
                "bordercolor": theme.GRID,
                "bgcolor": theme.GRID,
                "activebgcolor": theme.ACCENT,
                "font": {"size": 11},
            }
        ],
        updatemenus=[
            {
                "type": "buttons",
                "direction": "left",
                "x": 1,
                "xanchor": "right",
                "y": 0,
                "yanchor": "top",
                "pad": {"t": 36 if dims == 2 else 12},
                "showactive": False,
                "bgcolor": "rgba(127, 134, 152, 0.15)",
                "bordercolor": theme.GRID,
                "buttons": [
                    {"label": "Play", "method": "animate", "args": [route, pace]},
                    {"label": "Stop", "method": "animate", "args": [[None], stop]},
                ],
            }
        ],
    )
