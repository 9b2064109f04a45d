"""The ways to fine-tune: which of BERT's last vectors each head reads."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore.papers import Literature, Way

from ..plots import theme
from ..plots.figure import Figure, Properties
from ..plots.source_tables import links, markdown_table
from ..shell.picture import Picture
from .scores import SETUP

_ROOM = 5.0
"""Height of a way, in rows of boxes."""
_PIXELS = 34
"""Height of a row of boxes, in pixels."""
_QUIET, _READ, _BODY = "rgba(122,129,148,0.14)", "rgba(194,65,124,0.22)", "rgba(52,87,213,0.20)"


def _ways_figure(ways: Sequence[Way]) -> Figure:
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


def _ways_table(ways: Sequence[Way]) -> pd.DataFrame:
    """Return a row for each input: whether the head reads its last vector, and what it predicts."""
    rows = [
        (way.name, way.task, word, way.says.get(place, ""))
        for way in ways
        for place, word in enumerate(way.inputs)
    ]
    return pd.DataFrame(rows, columns=["way", "task", "input", "says"])


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


FOUR_WAYS = Picture(
    name="four-ways",
    figure=_ways_figure,
    table=_ways_table,
    how=(
        "Below is the input; above BERT, in pink, is what the new head predicts from the last "
        "vector at that place (after figure 4 of the BERT paper). Only the head is new, and it is "
        "trained together with BERT. Multiple choice is a fifth way: each choice is read with the "
        "text and gets one number, and softmax runs over the choices."
    ),
    code="""
for way in read_papers().ways:
    print(way.name, way.head, way.sets)
""",
)


def show_ways(literature: Literature) -> None:
    """Draw the ways, and a table of their heads and data sets."""
    FOUR_WAYS.show(None, literature.ways, setup=SETUP)
    rows = [
        (f"**{way.name}**", way.head, way.sets, f"`--task {way.task}`", links(way.source))
        for way in literature.ways
    ]
    head = ("Way", "Head", "Data sets in the paper", "`bertscope finetune`", "Source")
    st.markdown(markdown_table(head, rows))
