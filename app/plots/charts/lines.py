"""Lines by layer, with points, error bars or a band: of a value by name, or of several columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import theme
from ..error_bars import error_bars
from ..figure import Figure, subplots
from ..formats import shorten
from .chart import Chart

HEIGHT = 316


class Curve(NamedTuple):
    """A column of the frame, drawn over the layers; NaN leaves a gap."""

    y: str
    name: str
    """{k} is the chart's."""
    place: int | None
    """Of its colour among the categorical ones; None for grey."""
    dash: str = "solid"
    is_optional: bool = False
    """Whether it is left out if it has no number at all."""


@dataclass(frozen=True, kw_only=True)
class LayerCurves(Chart):
    """Curves over the layers, each a column of the frame."""

    curves: Sequence[Curve]
    title: str
    unit: str
    is_fraction: bool = True
    """Whether 0 to 1 is in sight; else the axis begins at 0."""
    band: tuple[str, str, str] | None = None
    """Columns of the low and the high end of a band behind the curves, and its name."""
    form: str = ".3f"
    """Of a number in the hover text."""
    ticks: str = ""
    """Of the numbers along the axis."""
    x: str = "layer"
    """Column of the layers, or of what the curves go over instead."""
    x_title: str = "Layer (0: embeddings)"
    x_name: str = "layer"
    """What a number of `x` is called in the hover text."""
    marked: int | None = None
    """A layer that a dotted line marks."""
    height: int = HEIGHT
    """Pixels."""
    k: int = 0
    """Neighbours that were counted."""
    chance: float | None = None
    """Where a dashed line goes."""
    chance_name: str = ""
    is_name_below: bool = False
    """Whether the name of the dashed line is below it."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = Figure()
        x = frame[self.x].tolist()
        if self.band is not None:
            low, high, name = self.band
            fig.add(
                "scatter",
                x=[*x, *reversed(x)],
                y=[*frame[high], *reversed([*frame[low]])],
                fill="toself",
                fillcolor="rgba(52, 87, 213, 0.18)",
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                name=name,
            )
        curves = [
            curve for curve in self.curves if not curve.is_optional or frame[curve.y].notna().any()
        ]
        for curve in curves:
            name, place = curve.name.format(k=self.k), curve.place
            fig.add(
                "scatter",
                x=x,
                y=[None if value != value else value for value in frame[curve.y].tolist()],
                mode="lines+markers",
                name=name,
                line={
                    "color": theme.SPECIAL if place is None else theme.CATEGORICAL[place],
                    "width": 2,
                    "dash": curve.dash,
                },
                marker={"size": 6},
                hovertemplate=f"{self.x_name} %{{x}}: %{{y:{self.form}}}<extra>{name}</extra>",
            )
        if self.chance is not None:
            fig.add_hline(
                y=self.chance,
                line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
                annotation={
                    "text": self.chance_name,
                    "font": {"size": 11, "color": theme.SPECIAL},
                    "yanchor": "top" if self.is_name_below else "bottom",
                },
            )
        if self.marked is not None:
            fig.add_vline(self.marked, line={"color": theme.SPECIAL, "width": 1, "dash": "dot"})
        over_layers(fig, x, self.title, self.unit, self.height)
        fig.update_xaxes(title_text=self.x_title)
        if not self.is_fraction:
            fig.update_yaxes(rangemode="tozero")
        else:
            drawn = frame[[curve.y for curve in curves]].to_numpy()
            low, high = np.nanmin(drawn, initial=0.0), np.nanmax(drawn, initial=1.0)
            fig.update_yaxes(range=[float(low) - 0.03, float(high) + 0.05])
        fig.update_yaxes(tickformat=self.ticks or None)
        fig.update_layout(showlegend=len(self.curves) > 1 or self.band is not None)
        return fig


def over_layers(
    fig: Figure, layers: Iterable[int], title: str, unit: str, height: int = HEIGHT
) -> None:
    """Give a figure its title, the names of its axes, and its legend below.

    Args:
        layers: Those that it shows; of a corpus not all are stored.
    """
    theme.plot_layout(fig, title, "Layer (0: embeddings)", unit, height)
    ticks = sorted(set(layers))
    fig.update_xaxes(tickmode="array", tickvals=ticks if len(ticks) <= 13 else ticks[::2])
    legend = {"y": -0.36, "yanchor": "top", "font": {"size": 11}}
    fig.update_layout(legend=legend, margin={"b": 8})


LIKE_ACCENT = ("#CC79A7", "#E4607A")
"""Colours of the categorical scale that could be mistaken for the accent."""


class Line(NamedTuple):
    """A line whose numbers are a column of the frame."""

    name: str
    y: str
    """Its column; if there are columns of that name and "_low" and "_high", its intervals."""
    colour: str
    panel: int = 0
    width: float = 2.5


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Lines over the layers: a row for each layer and line, or a column for each line."""

    x: str = "layer"
    y: str = ""
    """Column of the numbers, in a frame with a row for each layer and line."""
    by: str = ""
    """Column of the lines' names, in such a frame."""
    lines: Sequence[Line] = ()
    """The lines, in a frame with a column for each."""
    panels: Sequence[str] = ()
    """Titles of plots side by side, if several."""
    hover: Sequence[str]
    """Plotly's hover text for each panel; {name} is the line's name."""
    detail: str | None = None
    """A further column for the hover: its %{customdata}."""
    accent: str | None = None
    """Name of the line that stands out."""
    is_log: bool = False
    """Whether x is on a logarithmic scale, with a tick at each number of the frame."""
    is_rank: bool = False
    """Whether the numbers are ranks: on a logarithmic scale, 1 on top."""
    x_title: str = ""
    y_title: str = ""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = subplots(1, len(self.panels), subplot_titles=self.panels) if self.panels else Figure()
        for line, rows in self._lines(frame):
            self._add(fig, line, rows)
        theme.plot_layout(fig, "", self.x_title, self.y_title, 330)
        if self.is_log:
            numbers = sorted(set(frame[self.x]))
            ticks = [f"{number:,}" for number in numbers]
            fig.update_xaxes(type="log", tickvals=numbers, ticktext=ticks)
        if self.is_rank:
            _rank_axes(fig, frame[self.x].nunique(), frame[self.y].max() if len(frame) else 10)
        return fig

    def _lines(self, frame: pd.DataFrame) -> list[tuple[Line, pd.DataFrame]]:
        """Return the lines and their rows."""
        if self.lines:
            return [(line, frame) for line in self.lines]
        colours = [colour for colour in theme.CATEGORICAL if colour not in LIKE_ACCENT]
        lines = []
        for index, (name, rows) in enumerate(frame.groupby(self.by, sort=False)):
            stands_out = name == self.accent
            colour = theme.ACCENT if stands_out else colours[index % len(colours)]
            lines.append((Line(name, self.y, colour, width=4 if stands_out else 2.5), rows))
        return lines

    def _add(self, fig: Figure, line: Line, rows: pd.DataFrame) -> None:
        name, errors = theme.escape(shorten(line.name)), None
        if f"{line.y}_low" in rows:
            low, high = rows[f"{line.y}_low"], rows[f"{line.y}_high"]
            errors = error_bars(rows[line.y], low, high, line.colour, thickness=1.5, width=4)
        fig.add(
            "scatter",
            x=list(rows[self.x]),
            y=rows[line.y].to_numpy(),
            error_y=errors,
            mode="lines+markers",
            name=name,
            legendgroup=name if self.panels else None,
            showlegend=line.panel == 0 if self.panels else None,
            line={"color": line.colour, "width": line.width},
            marker_size=7,
            customdata=None if self.detail is None else rows[self.detail].to_numpy(),
            hovertemplate=self.hover[line.panel].replace("{name}", name) + "<extra></extra>",
            row=1,
            col=line.panel + 1,
        )


def layer_names(num_states: int) -> list[str]:
    """Return the name of each hidden state, [L+1].

    >>> layer_names(3)
    ['embeddings', 'layer 1', 'layer 2']
    """
    return ["embeddings", *(f"layer {i}" for i in range(1, num_states))]


def _rank_axes(fig: Figure, num_states: int, worst: float) -> None:
    powers = list(range(int(np.ceil(np.log10(max(worst, 2)))) + 1))
    fig.update_xaxes(tickvals=list(range(num_states)), ticktext=layer_names(num_states))
    fig.update_yaxes(
        type="log",
        range=[float(np.log10(max(worst, 10))) + 0.15, -0.15],
        tickvals=[10**e for e in powers],
        ticktext=[f"{10**e:,}" for e in powers],
    )
    fig.update_layout(hovermode="x unified", showlegend=True)
