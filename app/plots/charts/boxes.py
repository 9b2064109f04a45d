"""Tokens as boxes in lines like text, coloured by a number or by a kind; words in a map's cells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .. import theme, token_flow
from ..cells import cell_text
from ..figure import Figure, Properties, bar
from ..formats import ON_AXIS, percent, shorten
from .chart import Chart, Column, column


@dataclass(frozen=True, kw_only=True)
class TokenMap(Chart):
    """Words in cells, coloured by probability."""

    text: str
    value: str
    x: str
    """Column of numbers that orders the cells of a row; of several rows for a cell the first is
    drawn."""
    x_name: Column
    """Name of each cell's column; names may repeat."""
    y: str
    """Column of numbers that orders the rows."""
    y_name: Column
    is_upwards: bool = False
    """Whether the first row is at the bottom."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.drop_duplicates([self.y, self.x]).sort_values([self.y, self.x])
        shape = (-1, frame[self.x].nunique())
        words = frame[self.text].to_numpy(dtype=object).reshape(shape)
        values = frame[self.value].to_numpy().reshape(shape)
        columns, rows = column(frame, self.x_name)[: shape[1]], column(frame, self.y_name)
        rows = rows[:: shape[1]]
        letters = max(6, 70 // len(columns))
        hover = [
            [
                f"<b>{theme.escape(word)}</b>  {percent(float(p))}<br>"
                f"{theme.escape(row)}, {theme.escape(name)}"
                for word, p, name in zip(line, numbers, columns, strict=True)
            ]
            for line, numbers, row in zip(words, values, rows, strict=True)
        ]
        fig = Figure()
        bar = theme.bar_above("probability", tickformat=".0%")
        fig.heat(values, theme.FRACTIONS, "%{customdata}", gap=2, colorbar=bar, customdata=hover)
        texts = [[theme.escape(shorten(word, letters)) for word in line] for line in words]
        fig.add_trace(cell_text(values, texts, 12 if len(columns) < 8 else 10))
        theme.plot_layout(fig, "", "", "", 30 * len(rows) + 100)
        fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
        short = [name.replace("layer ", "") for name in columns] if len(columns) > 7 else columns
        fig.update_xaxes(
            range=[-0.5, len(columns) - 0.5],
            tickvals=list(range(len(columns))),
            ticktext=[theme.escape(name) for name in short],
            tickangle=0,
            showgrid=False,
        )
        upwards = [-0.5, len(rows) - 0.5]
        fig.update_yaxes(
            range=upwards if self.is_upwards else upwards[::-1],
            tickvals=list(range(len(rows))),
            ticktext=[theme.escape(shorten(name, ON_AXIS)) for name in rows],
            showgrid=False,
        )
        return fig


_NO_KIND = "rgba(127, 134, 152, 0.16)"


@dataclass(frozen=True, kw_only=True)
class Boxes(Chart):
    """Tokens coloured by a number on a sequential scale."""

    text: Column = "token"
    """First line of each box."""
    below: Column
    """Second, smaller line."""
    value: Column
    hover: Column
    """Hover text, in Plotly's HTML."""
    scale_title: str
    high: float = 1.0
    """Numbers from here on have the last colour; the scale begins at 0."""
    ticks: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the colour bar that name its ticks."""
    space_above: int = 52
    """Pixels for the colour bar."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        text, below = column(frame, self.text), column(frame, self.below)
        boxes = token_flow.place(text, below)
        capped = np.minimum(np.array(column(frame, self.value)), self.high)
        inks = theme.inks(capped, theme.from_zero(self.high)).tolist()
        marker = {
            "color": capped,
            "colorscale": theme.SEQUENTIAL,
            "cmin": 0,
            "cmax": self.high,
            "line_width": 0,
            "cornerradius": 5,
            "colorbar": theme.bar_above(self.scale_title, **self.ticks),
        }
        lines = [token_flow.two_lines(*both) for both in zip(text, below, strict=True)]
        fig = Figure(
            _bars(
                boxes,
                text=lines,
                textposition="inside",
                insidetextfont={"size": 13, "color": inks},
                marker=marker,
                customdata=column(frame, self.hover),
                showlegend=False,
            )
        )
        return token_flow.draw(fig, boxes, legend_height=self.space_above)


@dataclass(frozen=True, kw_only=True)
class KindBoxes(Chart):
    """Tokens coloured by what they are, with a legend; those of no kind are pale."""

    text: Column = "token"
    below: Column
    """Second, smaller line; it may be empty."""
    kind: Column
    """One of `kinds`, or None."""
    kinds: Mapping[str, tuple[str, str]]
    """Kind -> its name in the legend, in Plotly's HTML, and its colour; in the legend's order."""
    no_kind: str
    """What the legend calls the others."""
    hover: Column
    """Hover text, in Plotly's HTML."""
    space_above: int = 34
    """Pixels for the legend."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        text, below = column(frame, self.text), column(frame, self.below)
        kinds, hover = column(frame, self.kind), column(frame, self.hover)
        boxes = token_flow.place(text, below)
        fig = Figure()
        for kind in (*self.kinds, None):
            name, colour = (self.no_kind, _NO_KIND) if kind is None else self.kinds[kind]
            members = [i for i, of in enumerate(kinds) if of == kind]
            fig.add_trace(
                _bars(
                    [boxes[i] for i in members],
                    name=name,
                    text=[token_flow.two_lines(text[i], below[i]) for i in members],
                    textposition="none" if kind is None else "inside",
                    insidetextfont={"size": 13, "color": theme.WHITE},
                    marker={"color": colour, "line_width": 0, "cornerradius": 5},
                    customdata=[hover[i] for i in members],
                )
            )
        pale = [i for i, kind in enumerate(kinds) if kind is None]
        texts = [token_flow.two_lines(text[i]) for i in pale]
        token_flow.write(fig, [boxes[i] for i in pale], texts)
        token_flow.draw(fig, boxes, legend_height=self.space_above)
        fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
        return fig


def _bars(boxes: list[token_flow.Box], **properties: Any) -> Properties:
    """Return a trace of boxes; one without boxes still has its place in the legend."""
    nothing: list[float | None] = [None]
    return bar(
        base=[box.left for box in boxes] or nothing,
        x=[box.width for box in boxes] or nothing,
        y=[box.line for box in boxes] or nothing,
        orientation="h",
        insidetextanchor="middle",
        constraintext="none",
        textangle=0,
        hovertemplate="%{customdata}<extra></extra>",
        **properties,
    )
