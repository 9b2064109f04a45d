"""Dots with their intervals, a row for each name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from .. import theme
from ..error_bars import error_bars, with_interval
from ..figure import Figure, Properties, scatter
from ..formats import shorten
from .chart import Chart

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
