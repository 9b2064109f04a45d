"""Lines by layer, with points and, where there are intervals, with error bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import theme
from ..error_bars import error_bars
from ..figure import Figure, subplots
from ..formats import shorten
from .chart import Chart

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
    is_rank: bool = False
    """Whether the numbers are ranks: on a logarithmic scale, 1 on top."""
    x_title: str = ""
    y_title: str = ""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = subplots(1, len(self.panels), subplot_titles=self.panels) if self.panels else Figure()
        for line, rows in self._lines(frame):
            self._add(fig, line, rows)
        theme.plot_layout(fig, "", self.x_title, self.y_title, 330)
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
