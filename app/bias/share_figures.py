"""Figures of shares by group, each with its 95% interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..plots import theme
from ..plots.error_bars import error_bars, with_interval
from ..plots.figure import Figure, scatter, subplots
from ..plots.formats import shorten

ROW_PIXELS = 30


def dots(rows: Sequence[Mapping[str, Any]], axis: str) -> Figure:
    """Draw a row for each group and a dot with its interval for each measure.

    Args:
        rows: For each measure and group, as from `share_rows`; 50% is no preference.
        axis: Title of the axis.
    """
    shares = pd.DataFrame(rows)
    fig = subplots(1, 1)
    items = dict(zip(shares["group"], shares["items"], strict=True))
    places = {group: place for place, group in enumerate(items)}
    measures = shares["measure"].unique().tolist()
    for number, (measure, colour) in enumerate(zip(measures, theme.CATEGORICAL, strict=False)):
        part = shares[shares["measure"] == measure]
        means, lows, highs = (part[name].tolist() for name in ("mean", "low", "high"))
        fig.add_trace(
            scatter(
                x=means,
                y=[
                    places[group] + 0.18 * (number - (len(measures) - 1) / 2)
                    for group in part["group"]
                ],
                mode="markers",
                name=theme.escape(measure),
                marker={"color": colour, "size": 9},
                error_x=error_bars(means, lows, highs, colour),
                customdata=[
                    [theme.escape(group), with_interval(mean, low, high, ".1%")]
                    for group, mean, low, high in zip(
                        part["group"], means, lows, highs, strict=True
                    )
                ],
                hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}<extra>"
                + theme.escape(measure)
                + "</extra>",
                showlegend=len(measures) > 1,
            )
        )
    theme.plot_layout(fig, "", axis, "", ROW_PIXELS * len(items) + 100)
    fig.update_yaxes(
        tickvals=list(range(len(items))),
        ticktext=[
            f"{theme.escape(shorten(group, 30))} ({count:,})" for group, count in items.items()
        ],
        range=[len(items) - 0.4, -0.6],
        showgrid=False,
        ticklen=0,
    )
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
    fig.add_vline(0.5, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_layout(dragmode=False)
    return fig
