"""What is drawn at the points of the layer map: marks, names, rings and trails."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.projection import LayerMap

from ..plots import theme
from ..plots.figure import Properties, trace
from ..plots.label_places import label_places
from .places import at
from .points import Colouring

MAX_LABELS = {2: 60, 3: 25}
"""With more points than this, in 2-D and 3-D, only the highlighted ones get names."""
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
    highlighted: NDArray[np.bool_]
    """True for the points that the visitor searched for, [N]."""


class Mapped(NamedTuple):
    """The points of a map, their places, and how they are drawn."""

    table: VectorTable
    layer_map: LayerMap
    marks: Marks


def parts_of(marks: Marks) -> list[tuple[NDArray[np.int64], int]]:
    """Return the rows and code of each group; a scale is one group."""
    codes = marks.colouring.codes
    if not marks.colouring.groups:
        return [(np.arange(len(codes)), 0)]
    return [(np.flatnonzero(codes == code), code) for code in range(len(marks.colouring.groups))]


def _group_name(colouring: Colouring, code: int) -> str:
    return theme.escape(colouring.groups[code]) if colouring.groups else colouring.title


def names_at(places: NDArray[np.floating], marks: Marks) -> tuple[list[str], list[str]]:
    """Return the name written at each point and its side; only few, so that they do not overlap."""
    dims = places.shape[-1]
    written = np.ones(len(marks.labels), dtype=bool)
    if len(marks.labels) > MAX_LABELS[dims]:
        written = marks.highlighted & (marks.highlighted.sum() <= MAX_LABELS[dims])
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


def kind_of(dims: int) -> str:
    """Return Plotly's type of points in so many dimensions."""
    return "scatter" if dims == 2 else "scatter3d"


def points(
    places: NDArray[np.floating],
    marks: Marks,
    part: tuple[NDArray[np.int64], int],
    names: tuple[list[str], list[str]],
    ink: str,
) -> Properties:
    """Return the marks of one group at one layer, with the names of those that have one."""
    rows, code = part
    dims = places.shape[-1]
    shown = [names[0][i] for i in rows]
    whole = {"cliponaxis": False} if dims == 2 else {}  # a name at the edge is not cut
    return trace(
        kind_of(dims),
        **at(places[rows], dims),
        **whole,
        mode="markers+text" if any(shown) else "markers",
        text=shown,
        textposition=[names[1][i] for i in rows],
        textfont={"size": 12, **({"color": ink} if ink else {})},
        marker=_marker(marks.colouring, rows, code, dims, dim=marks.highlighted),
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
        if dim is not None and dim.any():  # the highlighted ones stand out against the rest
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


def rings(places: NDArray[np.floating], dims: int) -> Properties:
    """Return a ring around each highlighted point."""
    look = {"mode": "markers", "hoverinfo": "skip", "showlegend": False}
    if dims == 2:
        ring = {
            "size": 19,
            "symbol": "circle-open",
            "color": theme.ACCENT,
            "line": {"width": 2.5},
        }
        return trace(kind_of(dims), **at(places, dims), marker=ring, **look)
    ring = {"size": 10, "symbol": "circle-open", "color": theme.ACCENT}
    return trace(kind_of(dims), **at(places, dims), marker=ring, **look)


def trails(places: NDArray[np.floating], dims: int) -> list[Properties]:
    """Return the path of each highlighted point through the layers, from [L+1, N, dims]."""
    line = {"color": theme.ACCENT, "width": 1 if dims == 2 else 2}
    return [
        trace(
            kind_of(dims),
            **at(places[:, point], dims),
            mode="lines",
            line=line,
            opacity=0.45,
            hoverinfo="skip",
            showlegend=False,
        )
        for point in range(places.shape[1])
    ]
