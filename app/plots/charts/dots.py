"""A row of dots for each name: with their intervals, or probabilities on a logarithmic scale."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .. import theme
from ..error_bars import error_bars, with_interval
from ..figure import Figure, Properties, scatter
from ..formats import percent, shorten
from .chart import Chart, Column, column

ROW_PIXELS = 32
LONGEST_NAME = 30
_APART = 0.18  # distance of two dots in a row, in rows


@dataclass(frozen=True, kw_only=True)
class Intervals(Chart):
    """A row for each name, with a dot and its interval, or with several of different colours.

    The ends of the intervals are the columns `low` and `high`, NaN where there is none.
    """

    name: str
    """Column of the rows' names."""
    number: str
    """Column of the cases in each row, which stand in brackets behind its name."""
    value: str
    by: str = ""
    """Column of the dots' names, if a row has several; the cases are then the most that one has."""
    only: Mapping[str, Any] = field(default_factory=dict)
    """Column -> the value of the rows that are drawn, or None for missing; the download has all."""
    line: float | None = None
    """Where a dotted line goes from top to bottom."""
    is_fraction: bool = True
    """Whether values are between 0 and 1, and written as percentages."""
    includes_zero: bool = False
    """Whether an axis of other values begins at 0."""
    x_title: str = ""
    """In Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        for of, value in self.only.items():
            frame = frame[frame[of].isna() if value is None else frame[of] == value]
        numbers = dict(zip(frame[self.name], frame[self.number], strict=True))
        rows = {name: row for row, name in enumerate(numbers)}
        groups = [*frame.groupby(self.by, sort=False)] if self.by else [("", frame)]
        fig = Figure()
        for place, (dots_name, dots) in enumerate(groups):
            offset = _APART * (place - (len(groups) - 1) / 2)
            dots = dots[dots[self.value].notna()]
            heights = [rows[name] + offset for name in dots[self.name]]
            colour = theme.CATEGORICAL[place % len(theme.CATEGORICAL)]
            fig.add_trace(self._dots(dots, str(dots_name), heights, colour, len(groups) > 1))
        if self.line is not None:
            fig.add_vline(x=self.line, line={"dash": "dot", "color": theme.SPECIAL})
        legend = 24 if len(groups) > 1 else 0
        theme.plot_layout(fig, "", self.x_title, "", ROW_PIXELS * len(rows) + 80 + legend)
        names = [
            f"{theme.escape(shorten(str(name), LONGEST_NAME))} ({number:,})"
            for name, number in numbers.items()
        ]
        fig.update_yaxes(**theme.named_rows(names, 0.4))
        if self.is_fraction:
            fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
        elif self.includes_zero:
            fig.update_xaxes(rangemode="tozero")
        fig.update_layout(margin_r=24, dragmode=False)  # room for "100%"
        return fig

    def _dots(
        self,
        dots: pd.DataFrame,
        name: str,
        heights: Sequence[float],
        colour: str,
        is_in_legend: bool,
    ) -> Properties:
        form = ".1%" if self.is_fraction else ".3f"
        values, low, high = dots[self.value], dots["low"], dots["high"]
        numbers = zip(dots[self.name], values, low, high, dots[self.number], strict=True)
        return scatter(
            x=values.tolist(),
            y=heights,
            mode="markers",
            name=theme.escape(name) or None,
            marker={"color": colour, "size": 9 if self.by else 11},
            error_x=error_bars(values, low, high, colour, thickness=1.6),
            customdata=[
                [theme.escape(str(row)), with_interval(value, below, above, form), number]
                for row, value, below, above, number in numbers
            ],
            hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}"
            + ("" if self.by else ", of %{customdata[2]:,}")
            + f"<extra>{theme.escape(name)}</extra>",
            showlegend=is_in_legend,
        )


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
