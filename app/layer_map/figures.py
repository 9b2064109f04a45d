"""The layer map: points that travel from layer to layer, in two or three dimensions."""

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.projection import METHODS

from ..plots import player, theme
from ..plots.figure import Figure, Properties
from .places import at, display_places, reach_of
from .point_styles import Mapped, kind_of, names_at, parts_of, points, rings, trails

MAX_TRAILS = 12
"""Most highlighted points whose paths through the layers are drawn."""
STEP_MS = 700
HEIGHT = 600
CAMERA = {"eye": {"x": 1.2, "y": 1.2, "z": 0.7}}
TWEENS = 6
"""Frames between two layers when a 3-D map plays: Plotly animates 2-D points only."""


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
