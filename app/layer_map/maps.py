"""The layer map and its overview: colours, names, rings and trails of points; layers as frames."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.projection import METHODS, LayerMap

from ..layer_watch.layer_watch import layer_watch
from ..plots import Figure, Properties, cell_table, player, shorten, subplots, theme
from ..plots.charts import layer_names
from ..plots.figure import trace
from ..shell import Picture, frame
from ..shell.links import MAP_LAYER as LAYER

COLOUR_BY = ("word", "token", "segment", "sentence", "label", "position")
MAX_GROUPS = 12  # further words get one grey: 40 colours cannot be distinguished
OTHER = "#A3A9B8"
ADDED = "special tokens"  # group of the tokens that are added to a text, such as [CLS] and [SEP]
CONTEXT = 40  # characters of the sentence that a hover shows on each side of a token


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """The colour of each point: either a group of few, or a place on a scale."""

    title: str
    groups: tuple[str, ...]
    """Names of the groups; () for a scale."""
    colours: tuple[str, ...]
    """Colour of each group."""
    codes: NDArray[np.int64]
    """Group of each point, [N]; its place on the scale if there are no groups."""


def colouring(table: VectorTable, by: str) -> Colouring:
    """Group the points by one of COLOUR_BY.

    The most frequent groups get a colour each and the rest one grey; positions, and sentences if
    there are more than MAX_GROUPS, are a scale. ValueError if `by` is not one of COLOUR_BY.
    """
    if by == "position":
        return Colouring("position", (), (), table.positions)
    if by == "sentence":
        if len(set(table.sentence_ids.tolist())) > MAX_GROUPS:
            return Colouring("sentence", (), (), table.sentence_ids + 1)
        texts = [shorten(table.sentences[i].text, 24) for i in table.sentence_ids]
        names = [f"{i + 1}: {text}" for i, text in zip(table.sentence_ids, texts, strict=True)]
    elif by == "segment":
        names = [
            ADDED if special else "sentence B" if segment else "sentence A"
            for special, segment in zip(table.is_special, table.segment_ids, strict=True)
        ]
        fixed = {
            "sentence A": theme.SEGMENT_A,
            "sentence B": theme.SEGMENT_B,
            ADDED: theme.SPECIAL,
        }
        groups = tuple(name for name in fixed if name in names)
        return Colouring(by, groups, tuple(fixed[name] for name in groups), _codes(names, groups))
    elif by == "label":
        names = [label or "no label" for label in table.labels]
    elif by in ("word", "token"):
        names = list(table.words if by == "word" else table.tokens)
    else:
        raise ValueError(f"colour is {by!r}; expected one of {', '.join(COLOUR_BY)}.")
    added = {name for name, special in zip(names, table.is_special, strict=True) if special}
    return _by_name(by, names, added)


def _by_name(title: str, names: list[str], added: set[str]) -> Colouring:
    counts = Counter(names)
    kept = [name for name, _ in counts.most_common(MAX_GROUPS)]
    if len(counts) > MAX_GROUPS:
        kept = kept[: MAX_GROUPS - 1]
        others = f"{len(counts) - len(kept)} others"
        names = [name if name in kept else others for name in names]
        kept.append(others)
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    groups = sorted(kept, key=lambda name: (name.endswith(" others"), first[name]))
    colours = [
        theme.SPECIAL if name == "no label" or name in added else theme.CATEGORICAL[place]
        for place, name in enumerate(groups)
    ]
    if len(counts) > MAX_GROUPS:
        colours[-1] = OTHER
    return Colouring(title, tuple(groups), tuple(colours), _codes(names, tuple(groups)))


def _codes(names: list[str], groups: tuple[str, ...]) -> NDArray[np.int64]:
    place = {name: index for index, name in enumerate(groups)}
    return np.array([place[name] for name in names])


def hover_texts(table: VectorTable) -> list[str]:
    """Return for each point its token in bold within its sentence, and its attributes.

    The text is in Plotly's subset of HTML; everything from a visitor is escaped.
    """
    texts = []
    for i, (token, word, span) in enumerate(
        zip(table.tokens, table.words, table.spans, strict=True)
    ):
        sentence = table.sentences[table.sentence_ids[i]]
        text = sentence.text_pair or "" if table.segment_ids[i] else sentence.text
        is_text = table.word_ids[i] < 0 and not table.is_special[i]
        if is_text:  # a whole sentence
            lines = [theme.escape(line) for line in wrap(shorten(token, 4 * CONTEXT), 60)]
        else:
            lines = [f"<b>{theme.escape(shorten(token, 60))}</b>"]
        if word not in (token, f"##{token}"):
            lines[0] += f" in {theme.escape(shorten(word, 40))}"
        if span != (0, 0):
            lines.append(_in_context(text, *span))
        elif table.is_special[i]:
            lines.append(theme.escape(shorten(text, 2 * CONTEXT)))
        facts = [f"sentence {table.sentence_ids[i] + 1}"]
        if not is_text:
            facts.append(f"position {table.positions[i]}")
        if sentence.label:
            facts.append(f"label {theme.escape(shorten(sentence.label, 40))}")
        texts.append("<br>".join([*lines, ", ".join(facts)]))
    return texts


def point_labels(table: VectorTable) -> list[str]:
    """Return a short name of each point, to be drawn beside it."""
    return [theme.escape(shorten(token, 22)) for token in table.tokens]


def _in_context(text: str, start: int, end: int) -> str:
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    before = ("…" if start > CONTEXT else "") + before
    after += "…" if end + CONTEXT < len(text) else ""
    return f"{theme.escape(before)}<b>{theme.escape(text[start:end])}</b>{theme.escape(after)}"


def display_places(layer_map: LayerMap) -> NDArray[np.float32]:
    """Return the centred coordinates, [L+1, N, dims].

    Maps of each layer by itself are scaled to one size too: their units are not comparable.
    """
    places = layer_map.coordinates
    if layer_map.space == "joint":
        finite = places.reshape(-1, places.shape[-1])
        low, high = np.nanmin(finite, 0), np.nanmax(finite, 0)
        centred: NDArray[np.float32] = places - (low + high) / 2
        return centred
    places = places - np.nanmean(places, axis=1, keepdims=True)
    size = np.sqrt(np.nanmean((places**2).sum(-1), axis=1))[:, None, None]
    scaled: NDArray[np.float32] = np.divide(places, size, out=np.zeros_like(places), where=size > 0)
    return scaled


def _at(places: NDArray[np.floating], dims: int) -> dict[str, Any]:
    """Return x, y and z of points as lists: Plotly does not move packed arrays smoothly."""
    return {name: rounded(places[:, axis]) for axis, name in enumerate("xyz"[:dims])}


def rounded(values: NDArray[np.floating]) -> list[float | None]:
    """Return numbers rounded to four digits, to keep the message short; None for NaN."""
    return [None if value != value else float(f"{value:.4g}") for value in values.tolist()]


def reach_of(places: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return half the width to show along each axis, with a margin."""
    flat = np.abs(places.reshape(-1, places.shape[-1]))
    reach: NDArray[np.floating] = 1.1 * np.nanmax(flat, axis=0)
    return np.where(reach > 0, np.maximum(reach, 0.15 * reach.max()), 1.0)


MAX_LABELS = {2: 60, 3: 25}
"""With more points than this, in 2-D and 3-D, only the highlighted ones get names."""
SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up", "star")
SYMBOLS_3D = ("circle", "diamond", "square", "cross", "circle-open", "diamond-open")


def bare_axes(fig: Figure, reach: NDArray[np.floating]) -> None:
    """Frame each plot of a figure, all over the same range, without numbers.

    Without tick labels there are no automatic margins: they would move frames over their
    neighbours.
    """
    box: Properties = {
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "showline": True,
        "mirror": True,
        "linecolor": theme.GRID,
        "automargin": False,
    }
    fig.update_xaxes(range=[-reach[0], reach[0]], **box)
    fig.update_yaxes(range=[-reach[1], reach[1]], **box)


@dataclass(frozen=True, slots=True, eq=False)
class PointMarks:
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
    marks: PointMarks


def parts_of(marks: PointMarks) -> list[tuple[NDArray[np.int64], int]]:
    """Return the rows and code of each group; a scale is one group."""
    codes = marks.colouring.codes
    if not marks.colouring.groups:
        return [(np.arange(len(codes)), 0)]
    return [(np.flatnonzero(codes == code), code) for code in range(len(marks.colouring.groups))]


def names_at(places: NDArray[np.floating], marks: PointMarks) -> tuple[list[str], list[str]]:
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
    marks: PointMarks,
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
        **_at(places[rows], dims),
        **whole,
        mode="markers+text" if any(shown) else "markers",
        text=shown,
        textposition=[names[1][i] for i in rows],
        textfont={"size": 12, **({"color": ink} if ink else {})},
        marker=_marker(marks.colouring, rows, code, dims, dim=marks.highlighted),
        hovertext=[marks.hover[i] for i in rows],
        hoverinfo="text",
        name=(
            theme.escape(marks.colouring.groups[code])
            if marks.colouring.groups
            else marks.colouring.title
        ),
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
        return trace(kind_of(dims), **_at(places, dims), marker=ring, **look)
    ring = {"size": 10, "symbol": "circle-open", "color": theme.ACCENT}
    return trace(kind_of(dims), **_at(places, dims), marker=ring, **look)


def trails(places: NDArray[np.floating], dims: int) -> list[Properties]:
    """Return the path of each highlighted point through the layers, from [L+1, N, dims]."""
    line = {"color": theme.ACCENT, "width": 1 if dims == 2 else 2}
    return [
        trace(
            kind_of(dims),
            **_at(places[:, point], dims),
            mode="lines",
            line=line,
            opacity=0.45,
            hoverinfo="skip",
            showlegend=False,
        )
        for point in range(places.shape[1])
    ]


POSITIONS = ("top center", "bottom center", "middle right", "middle left")
CHARACTER = 7.0  # mean width of a character at 12 pixels of height
LINE = 14.0
GAP = 8.0  # from a point's centre to its name


MOST_COVERED = 0.3
"""A name covered by other names to more than this fraction is shown on hover only."""


def label_places(
    places: NDArray[np.floating], labels: Sequence[str], *, width: float, height: float
) -> list[str | None]:
    """Return for each point one of POSITIONS, the same in all layers; None: do not write it.

    Names are placed one after the other, each where it overlaps the names before it and all
    points least, summed over the layers: one choice that stays while the points travel.

    Args:
        places: In data units, [L+1, N, 2]; NaN for points that are not drawn.
        labels: Their names, [N]; "" is not written.
        width, height: Size of the picture in pixels for the span of all places.

    Source: ours; a greedy form of point-feature label placement.
    """
    positions: list[str | None] = [None] * len(labels)
    if places.size == 0 or np.isnan(places).all():
        return positions
    low, high = np.nanmin(places, (0, 1)), np.nanmax(places, (0, 1))
    # One scale for both axes, as the map is drawn.
    scale = min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    points = np.nan_to_num((places - low) * scale, nan=-1e6)
    # The points themselves, [L+1, N, 4], then the names one by one.
    boxes = np.concatenate([points - GAP * 0.7, points + GAP * 0.7], axis=-1)
    for index, label in enumerate(labels):
        if not label:
            continue
        candidates = [_box(points[:, index], label, position) for position in POSITIONS]
        others = np.delete(boxes, index, axis=1)
        best = int(np.argmin([_overlap(box, others).sum() for box in candidates]))
        names = boxes[:, len(labels) :]
        area = LINE * CHARACTER * len(label)
        if _overlap(candidates[best], names).sum(-1).mean() <= MOST_COVERED * area:
            positions[index] = POSITIONS[best]
            boxes = np.concatenate([boxes, candidates[best][:, None]], axis=1)
    return positions


def _box(point: NDArray[np.floating], label: str, position: str) -> NDArray[np.floating]:
    """Return the name's rectangle at each layer, [L+1, 4]: left, low, right, high."""
    wide = CHARACTER * len(label)
    left, low = {
        "top center": (-wide / 2, GAP),
        "bottom center": (-wide / 2, -GAP - LINE),
        "middle right": (GAP, -LINE / 2),
        "middle left": (-GAP - wide, -LINE / 2),
    }[position]
    corner = point + np.array([left, low])
    return np.concatenate([corner, corner + np.array([wide, LINE])], axis=1)


def _overlap(box: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the areas that one rectangle [L+1, 4] shares with others [L+1, M, 4]."""
    low = np.maximum(box[:, None, :2], others[..., :2])
    high = np.minimum(box[:, None, 2:], others[..., 2:])
    areas: NDArray[np.floating] = np.clip(high - low, 0, None).prod(-1)
    return areas


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
            "data": [{"type": kind, **_at(place[row], dims)} for row in rows],
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
