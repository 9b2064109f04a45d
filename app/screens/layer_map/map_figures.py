"""The layer map: colours, names, rings and trails of points; layers as frames."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.points import PointMap, matches
from bertcore.analysis.space.projection import METHODS, LayerMap
from bertcore.base.states import state_name

from ...plots import Figure, Properties, player, shorten, theme
from ...plots.figure import trace

COLOUR_BY = ("word", "token", "segment", "sentence", "label")
MAX_GROUPS = 12  # further words get one grey: 40 colours cannot be distinguished
OTHER = "#A3A9B8"
ADDED = "special tokens"  # group of the tokens that are added to a text, such as [CLS] and [SEP]
SEGMENTS = {"sentence A": theme.SEGMENT_A, "sentence B": theme.SEGMENT_B, ADDED: theme.SPECIAL}
CONTEXT = 40  # characters of the sentence that a hover shows on each side of a token
MAX_LABELS = {2: 60, 3: 25}
"""With more points than this, in 2-D and 3-D, only the highlighted ones get names."""
MAX_TRAILS = 12  # most highlighted points whose paths through the layers are drawn
SYMBOLS = {
    2: ("circle", "diamond", "square", "cross", "triangle-up", "star"),
    3: ("circle", "diamond", "square", "cross", "circle-open", "diamond-open"),
}
STEP_MS = 700
HEIGHT = 600
CAMERA = {"eye": {"x": 1.2, "y": 1.2, "z": 0.7}}
TWEENS = 6  # frames between two layers when a 3-D map plays: Plotly animates 2-D points only


# ---- what is drawn at each point ----


@dataclass(frozen=True, slots=True, eq=False)
class PointMarks:
    """What is drawn at each of N points besides its place."""

    title: str
    """What the colours are, one of COLOUR_BY."""
    groups: dict[str, str]
    """Colour of each group by its name."""
    codes: NDArray[np.int64]
    """Group of each point, [N]."""
    hover: Sequence[str]
    """Escaped text of the hover, [N]."""
    labels: Sequence[str]
    """Escaped short name, [N]."""
    highlighted: NDArray[np.bool_]
    """True for the points that the visitor searched for, [N]."""

    @property
    def parts(self) -> list[tuple[NDArray[np.int64], int]]:
        """The rows and code of each group."""
        return [(np.flatnonzero(self.codes == code), code) for code in range(len(self.groups))]


def marks_of(table: VectorTable, colour: str, find: str) -> PointMarks:
    """Return the marks of a table.

    The most frequent groups get a colour each and the rest one grey.

    Args:
        colour: One of COLOUR_BY.
        find: A word that stands out.

    ValueError if there is no such colouring.
    """
    labels = [theme.escape(shorten(token, 22)) for token in table.tokens]
    rest = hover_texts(table), labels, matches(table, find)
    if colour == "segment":
        names = [
            ADDED if special else "sentence B" if segment else "sentence A"
            for special, segment in zip(table.is_special, table.segment_ids, strict=True)
        ]
        groups = {name: ink for name, ink in SEGMENTS.items() if name in names}
    else:
        names = _names_by(table, colour)
        added = {name for name, special in zip(names, table.is_special, strict=True) if special}
        counts = Counter(names)
        listed = {name for name, _ in counts.most_common(MAX_GROUPS)}
        if len(counts) > MAX_GROUPS:
            listed = {name for name, _ in counts.most_common(MAX_GROUPS - 1)}
            others = f"{len(counts) - len(listed)} others"
            names = [name if name in listed else others for name in names]
        shown = [name for name in dict.fromkeys(names) if name in listed]  # as they first occur
        groups = {
            name: theme.SPECIAL if name == "no label" or name in added else ink
            for name, ink in zip(shown, theme.CATEGORICAL, strict=False)
        }
        if len(counts) > MAX_GROUPS:
            groups[others] = OTHER
    codes = np.array([[*groups].index(name) for name in names])
    return PointMarks(colour, groups, codes, *rest)


def _names_by(table: VectorTable, colour: str) -> list[str]:
    if colour == "label":
        return [label or "no label" for label in table.labels]
    if colour == "word":
        return [*table.words]
    if colour == "token":
        return [*table.tokens]
    if colour == "sentence":
        return [f"{i + 1}: {shorten(table.sentences[i].text, 24)}" for i in table.sentence_ids]
    raise ValueError(f"colour is {colour!r}; expected one of {', '.join(COLOUR_BY)}.")


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
            before, inside, after = map(theme.escape, in_context(text, *span, CONTEXT))
            lines.append(f"{before}<b>{inside}</b>{after}")
        elif table.is_special[i]:
            lines.append(theme.escape(shorten(text, 2 * CONTEXT)))
        facts = [f"sentence {table.sentence_ids[i] + 1}"]
        facts += [] if is_text else [f"position {table.positions[i]}"]
        facts += [f"label {theme.escape(shorten(sentence.label, 40))}"] if sentence.label else []
        texts.append("<br>".join([*lines, ", ".join(facts)]))
    return texts


def in_context(text: str, start: int, end: int, most: int) -> tuple[str, str, str]:
    """Return at most so many characters before a part of a text, the part, and those after it."""
    before, after = text[max(0, start - most) : start], text[end : end + most]
    before = ("…" if start > most else "") + before
    return before, text[start:end], after + ("…" if end + most < len(text) else "")


# ---- places ----


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


# ---- names of points ----

SIDES = ("top center", "bottom center", "middle right", "middle left")
CHARACTER = 7.0  # mean width of a character at 12 pixels of height
LINE = 14.0
GAP = 8.0  # from a point's centre to its name
MOST_COVERED = 0.3
"""A name covered by other names to more than this fraction is shown on hover only."""


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
        names = [f"\u00a0\u00a0{name}" if name else "" for name in names]
        return names, ["middle right"] * len(names)
    sides = label_places(places, names, width=640, height=430)
    names = [name if side else "" for name, side in zip(names, sides, strict=True)]
    return names, [side or "top center" for side in sides]


def label_places(
    places: NDArray[np.floating], labels: Sequence[str], *, width: float, height: float
) -> list[str | None]:
    """Return for each point one of SIDES, the same in all layers; None: do not write it.

    Names are placed one after the other, each where it overlaps the names before it and all
    points least, summed over the layers: one choice that stays while the points travel.

    Args:
        places: In data units, [L+1, N, 2]; NaN for points that are not drawn.
        labels: Their names, [N]; "" is not written.
        width, height: Size of the picture in pixels for the span of all places.

    Source: ours; a greedy form of point-feature label placement.
    """
    sides: list[str | None] = [None] * len(labels)
    if places.size == 0 or np.isnan(places).all():
        return sides
    low, high = np.nanmin(places, (0, 1)), np.nanmax(places, (0, 1))
    # One scale for both axes, as the map is drawn.
    scale = min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    points = np.nan_to_num((places - low) * scale, nan=-1e6)
    # The points themselves, [L+1, N, 4], then the names one by one.
    boxes = np.concatenate([points - GAP * 0.7, points + GAP * 0.7], axis=-1)
    for index, label in enumerate(labels):
        if not label:
            continue
        wide = CHARACTER * len(label)
        corners = [(-wide / 2, GAP), (-wide / 2, -GAP - LINE), (GAP, -LINE / 2)]
        corners.append((-GAP - wide, -LINE / 2))
        left_low = [points[:, index] + np.array(corner) for corner in corners]
        candidates = [np.concatenate([at, at + np.array([wide, LINE])], axis=1) for at in left_low]
        others = np.delete(boxes, index, axis=1)
        best = int(np.argmin([_overlap(box, others).sum() for box in candidates]))
        names = boxes[:, len(labels) :]
        if _overlap(candidates[best], names).sum(-1).mean() <= MOST_COVERED * LINE * wide:
            sides[index] = SIDES[best]
            boxes = np.concatenate([boxes, candidates[best][:, None]], axis=1)
    return sides


def _overlap(box: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the areas that one rectangle [L+1, 4] shares with others [L+1, M, 4]."""
    low = np.maximum(box[:, None, :2], others[..., :2])
    high = np.minimum(box[:, None, 2:], others[..., 2:])
    areas: NDArray[np.floating] = np.clip(high - low, 0, None).prod(-1)
    return areas


# ---- the map ----


def travel(
    mapped: PointMap,
    *,
    colour: str = "word",
    find: str = "",
    layer: int | None = None,
    ink: str = "",
) -> Figure:
    """Draw one layer's points, with a slider and a play button that move them through all layers.

    Args:
        mapped: The points, in two or three dimensions.
        colour, find: As for `marks_of`.
        layer: The layer shown first; the last if not given.
        ink: Colour of the names; empty for the theme's.
    """
    layer_map, marks = mapped.layer_map, marks_of(mapped.table, colour, find)
    places = display_places(layer_map)
    num_layers, _, dims = places.shape
    layer = num_layers - 1 if layer is None else min(max(layer, 0), num_layers - 1)
    parts, names = marks.parts, names_at(places, marks)
    fig = Figure([_points(places[layer], marks, part, names, ink) for part in parts])
    rows, moving = [part[0] for part in parts], list(range(len(parts)))
    if marks.highlighted.any():
        is_one_frame = layer_map.space == "joint" or layer_map.method != "pca"
        if is_one_frame and marks.highlighted.sum() <= MAX_TRAILS:
            fig.add_traces(_trails(places[:, marks.highlighted], dims))
        rows.append(np.flatnonzero(marks.highlighted))
        fig.add_trace(_rings(places[layer][rows[-1]], dims))
        moving.append(len(fig.traces) - 1)
    fig.stages = [
        {
            "name": name,
            "data": [{"type": _kind(dims), **_at(place[row], dims)} for row in rows],
            "traces": moving,
        }
        for name, place in _stations(places, dims)
    ]
    axes = [theme.escape(shorten(name, 60)) for name in layer_map.axes] or [
        f"{METHODS[layer_map.method]} axis {axis + 1}" for axis in range(dims)
    ]
    theme.plot_layout(fig, "", axes[0], axes[1], HEIGHT)
    _frame_axes(fig, places, axes)
    if num_layers > 1:
        _controls(fig, num_layers, layer, dims)
    fig.update_layout(
        legend={
            "title": {"text": marks.title},
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


def _kind(dims: int) -> str:
    """Return Plotly's type of points in so many dimensions."""
    return "scatter" if dims == 2 else "scatter3d"


def _points(
    places: NDArray[np.floating],
    marks: PointMarks,
    part: tuple[NDArray[np.int64], int],
    names: tuple[list[str], list[str]],
    ink: str,
) -> Properties:
    """Return the marks of one group at one layer, with the names of those that have one."""
    (rows, code), dims = part, places.shape[-1]
    shown = [names[0][i] for i in rows]
    name, ink_of_group = [*marks.groups.items()][code]
    size = (11 if len(marks.codes) <= 60 else 8) if dims == 2 else 5
    marker: dict[str, Any] = {"size": size, "opacity": 0.85, "color": ink_of_group}
    if marks.title == "label":
        marker["symbol"] = SYMBOLS[dims][code % len(SYMBOLS[dims])]
    if dims == 2:
        marker["line"] = {"width": 1, "color": "rgba(255, 255, 255, 0.7)"}
        if marks.highlighted.any():  # the others step back
            marker["opacity"] = np.where(marks.highlighted[rows], 0.95, 0.3).tolist()
    whole = {"cliponaxis": False} if dims == 2 else {}  # a name at the edge is not cut
    return trace(
        _kind(dims),
        **_at(places[rows], dims),
        **whole,
        mode="markers+text" if any(shown) else "markers",
        text=shown,
        textposition=[names[1][i] for i in rows],
        textfont={"size": 12, **({"color": ink} if ink else {})},
        marker=marker,
        hovertext=[marks.hover[i] for i in rows],
        hoverinfo="text",
        name=theme.escape(name),
        showlegend=True,
    )


def _rings(places: NDArray[np.floating], dims: int) -> Properties:
    """Return a ring around each highlighted point."""
    ring: dict[str, Any] = {"symbol": "circle-open", "color": theme.ACCENT}
    ring |= {"size": 19, "line": {"width": 2.5}} if dims == 2 else {"size": 10}
    look = {"mode": "markers", "hoverinfo": "skip", "showlegend": False}
    return trace(_kind(dims), **_at(places, dims), marker=ring, **look)


def _trails(places: NDArray[np.floating], dims: int) -> list[Properties]:
    """Return the path of each highlighted point through the layers, from [L+1, N, dims]."""
    line = {"color": theme.ACCENT, "width": 1 if dims == 2 else 2}
    look = {"mode": "lines", "line": line, "opacity": 0.45, "hoverinfo": "skip"}
    return [
        trace(_kind(dims), **_at(places[:, point], dims), showlegend=False, **look)
        for point in range(places.shape[1])
    ]


def _stations(places: NDArray[np.floating], dims: int) -> list[tuple[str, NDArray[np.floating]]]:
    """Return name and points of each frame: the layers, and what is between them in 3-D."""
    stations = [(str(layer), place) for layer, place in enumerate(places)]
    if dims == 2:
        return stations
    for layer, (here, there) in enumerate(pairwise(places)):
        for step in range(1, TWEENS):
            fraction = step / TWEENS
            eased = fraction * fraction * (3 - 2 * fraction)
            stations.append((f"{layer}+{step}", (1 - eased) * here + eased * there))
    return stations


def _frame_axes(fig: Figure, places: NDArray[np.floating], names: list[str]) -> None:
    """Fix the axes over all layers, so that only the points move."""
    reach = reach_of(places)
    if places.shape[-1] == 2:
        bare: Properties = {"showticklabels": False, "showgrid": False}
        box: Properties = {**bare, "showline": True, "mirror": True, "linecolor": theme.GRID}
        fig.update_xaxes(range=[-reach[0], reach[0]], **box)
        fig.update_yaxes(range=[-reach[1], reach[1]], scaleanchor="x", scaleratio=1, **box)
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
    is_3d = dims == 3  # Plotly animates 2-D points; a 3-D scene is redrawn
    smooth = {"duration": 0 if is_3d else STEP_MS, "easing": "cubic-in-out"}
    jump = {"frame": {"duration": 0 if is_3d else STEP_MS, "redraw": is_3d}}
    steps = [
        {
            "label": state_name(i),
            "value": str(i),
            "method": "animate",
            "args": [[str(i)], {**jump, "mode": "immediate", "transition": smooth}],
        }
        for i in range(num_layers)
    ]
    route = [str(0)]
    for i in range(1, num_layers):
        route += [f"{i - 1}+{step}" for step in range(1, TWEENS)] if is_3d else []
        route.append(str(i))
    pace = {
        "frame": {"duration": STEP_MS / TWEENS if is_3d else STEP_MS + 300, "redraw": is_3d},
        "transition": smooth,
        "mode": "immediate",
    }
    room = {"t": 20 if is_3d else 44, "b": 4}
    below = {"y": 0, "yanchor": "top", "pad": {"t": 12 if is_3d else 36}}
    fig.update_layout(
        sliders=[player.slider(steps, active=layer, prefix="", y=0, pad=room)],
        updatemenus=[player.buttons(route, pace, **below)],
    )
