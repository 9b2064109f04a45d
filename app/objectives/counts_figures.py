"""What an objective did in many draws, beside its paper's shares."""

from __future__ import annotations

import pandas as pd

from bertcore.objectives.counting import Counted, Counts

from ..plots import theme
from ..plots.error_bars import error_bars
from ..plots.figure import Figure, scatter
from ..plots.special_tokens import BERT, Marks, own_text


def shares(counts: Counts) -> list[Counted]:
    """Return what is a share, not a length."""
    return [one for one in counts.rates if not one.unit]


def counts_figure(counts: Counts, marks: Marks = BERT) -> Figure:
    """Draw each share as a point with its interval, and the paper's as a line if it gives one.

    Args:
        counts: The numbers.
        marks: The checkpoint's special tokens.
    """
    rates = shares(counts)
    places = list(range(len(rates)))
    names = [theme.escape(own_text(one.name, marks)) for one in rates]
    labels = [
        f"{name}<br><b>{one.mean:.1%}</b>"
        + ("" if one.paper is None else f"  paper {one.paper:.1%}")
        for name, one in zip(names, rates, strict=True)
    ]
    fig = Figure()
    given = [place for place in places if rates[place].paper is not None]
    if given:
        line = {"symbol": "line-ns", "size": 26, "line_width": 3, "line_color": theme.ACCENT}
        fig.add_trace(
            scatter(
                x=[rates[place].paper for place in given],
                y=given,
                customdata=[names[place] for place in given],
                mode="markers",
                name="the paper",
                marker=line,
                hovertemplate="%{customdata}: paper %{x:.1%}<extra></extra>",
            )
        )
    fig.add_trace(
        scatter(
            x=[one.mean for one in rates],
            y=places,
            customdata=names,
            mode="markers",
            name=f"{counts.num_draws:,} draws on this text",
            marker={"size": 11, "color": theme.SEGMENT_A},
            error_x=error_bars(
                [one.mean for one in rates],
                [one.low for one in rates],
                [one.high for one in rates],
                theme.SEGMENT_A,
                thickness=3,
            ),
            hovertemplate="%{customdata}: %{x:.1%}<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", "", "", 96 + 52 * len(rates))
    fig.update_xaxes(range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    fig.update_yaxes(
        range=[len(rates) - 0.5, -0.5], tickvals=places, ticktext=labels, tickfont_size=14
    )
    return fig


def counts_table(counts: Counts) -> pd.DataFrame:
    """Return a row for each share or length."""
    return pd.DataFrame(
        {
            "counted": [one.name for one in counts.rates],
            "mean": [one.mean for one in counts.rates],
            "low": [one.low for one in counts.rates],
            "high": [one.high for one in counts.rates],
            "paper": [one.paper for one in counts.rates],
            "chosen_or_paper": [one.expected for one in counts.rates],
            "unit": [one.unit or "share" for one in counts.rates],
        }
    )
