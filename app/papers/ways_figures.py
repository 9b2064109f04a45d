"""Figure of the ways to fine-tune: which of BERT's last vectors each head reads."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.papers import Way

from ..plots import theme
from ..plots.figure import Figure, Properties

_ROOM = 5.0
"""Height of a way, in rows of boxes."""
_PIXELS = 34
"""Height of a row of boxes, in pixels."""
_QUIET, _READ, _BODY = "rgba(122,129,148,0.14)", "rgba(194,65,124,0.22)", "rgba(52,87,213,0.20)"


def ways_figure(ways: Sequence[Way]) -> Figure:
    """Draw each way: its input below, BERT, and above it what the head predicts, where it reads."""
    fig = Figure()
    for number, way in enumerate(ways):
        _draw(fig, way, _ROOM * (len(ways) - 1 - number))
    height = round(_ROOM * _PIXELS * len(ways)) + 16
    theme.plot_layout(fig, "", "", "", height)
    hidden = {"showgrid": False, "showticklabels": False, "zeroline": False, "fixedrange": True}
    fig.update_xaxes(range=[0, 1], **hidden)
    fig.update_yaxes(range=[0, _ROOM * len(ways)], **hidden)
    fig.update_layout(dragmode=False, margin={"l": 0, "r": 0, "t": 8, "b": 8})
    return fig


def ways_table(ways: Sequence[Way]) -> pd.DataFrame:
    """Return a row for each input: whether the head reads its last vector, and what it predicts."""
    return pd.DataFrame(
        [
            {"way": way.name, "task": way.task, "input": word, "says": way.says.get(place, "")}
            for way in ways
            for place, word in enumerate(way.inputs)
        ]
    )


def _draw(fig: Figure, way: Way, low: float) -> None:
    """Draw one way above `low`."""
    width = 1 / len(way.inputs)
    _text(fig, 0.0, low + 4.4, f"<b>{theme.escape(way.name)}</b>", anchor="left", size=17)
    _box(fig, 0.0, 1.0, low + 1.4, _BODY)
    _text(fig, 0.5, low + 1.8, "BERT", size=16)
    for place, word in enumerate(way.inputs):
        left, right = width * (place + 0.06), width * (place + 0.94)
        middle = (left + right) / 2
        _box(fig, left, right, low + 0.2, _QUIET)
        _text(fig, middle, low + 0.6, theme.escape(word))
        answer = way.says.get(place)
        if answer is None:
            continue
        _box(fig, left, right, low + 2.9, _READ)
        _text(fig, middle, low + 3.3, f"<b>{theme.escape(answer)}</b>")
        ends: Properties = {"x0": middle, "x1": middle, "y0": low + 2.2, "y1": low + 2.9}
        fig.add_shape(type="line", line={"color": theme.ACCENT, "width": 3}, **ends)


def _box(fig: Figure, left: float, right: float, low: float, colour: str) -> None:
    sides: Properties = {"x0": left, "x1": right, "y0": low, "y1": low + 0.8}
    fig.add_shape(type="rect", line={"width": 0}, fillcolor=colour, **sides)


def _text(
    fig: Figure, x: float, y: float, text: str, *, anchor: str = "center", size: int = 14
) -> None:
    font = {"size": size}
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, xanchor=anchor, font=font)
