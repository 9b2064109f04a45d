"""Probabilities as dots on a logarithmic scale, each with its name and its numbers."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import theme
from ..figure import Figure
from ..formats import percent, shorten
from .chart import Chart, Column, column

FLOOR = 1e-12  # A logarithmic axis has no zero


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A dot for each row, and a ring for a second value."""

    value: str
    order: str
    """Column that sorts the rows, the highest first; those without a number are left out."""
    name: str
    below: Column
    """Second, smaller line of a name; it may be empty."""
    label: Column
    """Text at each dot."""
    value_name: str
    """What the legend calls the dots."""
    ring: str
    """Column of the second value; drawn where there is a second line."""
    ring_name: str
    ring_hover: str
    """Plotly's hover text of the rings."""
    x_title: str

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame[frame[self.order].notna()]
        frame = frame.assign(below=column(frame, self.below), label=column(frame, self.label))
        frame = frame.sort_values(self.order, ascending=False, kind="stable")
        # Names may repeat once shortened, so rows are numbers with tick texts.
        rows, names = list(range(len(frame))), [*map(_two_lines, frame[self.name], frame["below"])]
        dots, rings = (frame[of].clip(lower=FLOOR).tolist() for of in (self.value, self.ring))
        several = [row for row in rows if frame["below"].iloc[row]]
        fig = Figure()
        fig.add(
            "bar",
            x=dots,
            y=rows,
            orientation="h",
            width=0.12,
            marker_color=theme.SEGMENT_A,
            opacity=0.35,
            hoverinfo="skip",
            showlegend=False,
        )
        if several:
            fig.add(
                "scatter",
                x=[rings[row] for row in several],
                y=several,
                mode="markers",
                marker={"symbol": "circle-open", "size": 12, "color": theme.SEGMENT_B},
                marker_line_width=2,
                name=self.ring_name,
                hovertemplate=f"{self.ring_hover}<extra></extra>",
            )
        fig.add(
            "scatter",
            x=dots,
            y=rows,
            mode="markers+text",
            marker={"size": 12, "color": theme.SEGMENT_A},
            text=[f"  {label}" for label in frame["label"]],
            textposition="middle right",
            cliponaxis=False,
            name=self.value_name,
            customdata=names,
            hovertemplate="%{customdata}: %{x:.3%}<extra></extra>",
            showlegend=bool(several),
        )
        theme.plot_layout(fig, "", self.x_title, "", 36 * len(rows) + 90)
        lowest = int(np.floor(np.log10(min([1e-4, *dots]))))
        powers = range(lowest - lowest % 2, 1, 2 if lowest < -6 else 1)
        fig.update_xaxes(
            type="log",
            range=[lowest - 0.2, -0.22 * lowest],  # room for the label of a certain word
            tickvals=[10.0**e for e in powers],
            ticktext=[percent(10.0**e) if e >= -5 else f"10<sup>{e}</sup>" for e in powers],
        )
        fig.update_yaxes(**theme.named_rows(names, 0.4))
        return fig


def _two_lines(name: str, below: str) -> str:
    first = f"<b>{theme.escape(shorten(name))}</b>"
    small = f'<span style="font-size:10.5px">{theme.escape(shorten(below, 30))}</span>'
    return f"{first}<br>{small}" if below else first
