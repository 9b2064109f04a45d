"""What is drawn at the points of the layer map: marks, names, rings and trails."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.projection import LayerMap

from ..plots import Figure, Properties, shorten, theme
from ..plots.figure import trace

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


def at(places: NDArray[np.floating], dims: int) -> dict[str, Any]:
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
        **at(places[rows], dims),
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
