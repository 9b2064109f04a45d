"""Figures of shares by group, each with its 95% interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from bertcore.bias import Share

from ..plots import theme
from ..plots.error_bars import error_bars, with_interval
from ..plots.figure import Figure, scatter, subplots
from ..plots.formats import shorten

ROW_PIXELS = 30


class Point(NamedTuple):
    """A number with the ends of its interval."""

    mean: float
    low: float
    high: float


class Rows(NamedTuple):
    """Groups by measure, and where a measure has no preference."""

    groups: tuple[str, ...]
    num_items: tuple[int, ...]
    points: Mapping[str, tuple[Point | None, ...]]
    """Measure -> a point for each group, None if it has none."""
    neutral: Mapping[str, float]
    """Measure -> its value without a preference."""


def share_rows(found: Mapping[str, Sequence[Share]]) -> Rows:
    """Return shares by measure as rows, in the order of the first measure."""
    by_name = {name: {share.group: share for share in each} for name, each in found.items()}
    groups = list(dict.fromkeys(share.group for each in found.values() for share in each))
    return Rows(
        tuple(groups),
        tuple(max(by[g].num_items for by in by_name.values() if g in by) for g in groups),
        {
            name: tuple(
                Point(by[g].mean, by[g].low, by[g].high) if g in by else None for g in groups
            )
            for name, by in by_name.items()
        },
        dict.fromkeys(by_name, 0.5),
    )


def dots(rows: Rows, axis: str) -> Figure:
    """Draw a row for each group and a dot with its interval for each measure."""
    fig = subplots(1, 1)
    number = len(rows.points)
    for place, (name, points) in enumerate(rows.points.items()):
        colour = theme.CATEGORICAL[place]
        there = [i for i, point in enumerate(points) if point is not None]
        known = [point for point in points if point is not None]
        fig.add_trace(
            scatter(
                x=[point.mean for point in known],
                y=[i + 0.18 * (place - (number - 1) / 2) for i in there],
                mode="markers",
                name=theme.escape(name),
                marker={"color": colour, "size": 9},
                error_x=error_bars(
                    [point.mean for point in known],
                    [point.low for point in known],
                    [point.high for point in known],
                    colour,
                ),
                customdata=[
                    [theme.escape(rows.groups[i]), with_interval(*p, ".1%")]
                    for i, p in zip(there, known, strict=True)
                ],
                hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}<extra>"
                + theme.escape(name)
                + "</extra>",
                showlegend=number > 1,
            )
        )
    theme.plot_layout(fig, "", axis, "", ROW_PIXELS * len(rows.groups) + 100)
    fig.update_yaxes(
        tickvals=list(range(len(rows.groups))),
        ticktext=[
            f"{theme.escape(shorten(group, 30))} ({count:,})"
            for group, count in zip(rows.groups, rows.num_items, strict=True)
        ],
        range=[len(rows.groups) - 0.4, -0.6],
        showgrid=False,
        ticklen=0,
    )
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
    for value in sorted(set(rows.neutral.values())):
        fig.add_vline(value, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_layout(dragmode=False)
    return fig


def dots_table(rows: Rows) -> pd.DataFrame:
    """Return a row for each group and measure."""
    return pd.DataFrame(
        [
            {"group": group, "items": count, "measure": name, **point._asdict()}
            for name, points in rows.points.items()
            for group, count, point in zip(rows.groups, rows.num_items, points, strict=True)
            if point is not None
        ]
    )
