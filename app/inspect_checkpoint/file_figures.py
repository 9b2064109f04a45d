"""Figures of a labelled file: confusion, calibration, slices, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.attribution import WrongAnswer
from bertcore.evaluation.calibration import Calibration
from bertcore.evaluation.slices import Slice

from ..plots import theme
from ..plots.error_bars import error_bars
from ..plots.figure import Figure, bar, scatter, subplots
from ..plots.formats import shorten


def reliability(calibration: Calibration) -> Figure:
    """Draw how often answers of each confidence are right, and how many there are."""
    middle = (calibration.edges[:-1] + calibration.edges[1:]) / 2
    width = float(calibration.edges[1] - calibration.edges[0])
    fig = subplots(2, 1, row_heights=[0.74, 0.26], shared_xaxes=True, vertical_spacing=0.06)
    fig.add_trace(
        scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            line={"color": theme.SPECIAL, "dash": "dot"},
            hoverinfo="skip",
            name="perfect calibration",
        ),
        row=1,
        col=1,
    )
    fig.add_trace(
        bar(
            x=middle,
            y=calibration.accuracy,
            width=width * 0.92,
            marker={"color": theme.SEGMENT_A, "opacity": 0.5, "line_width": 0},
            error_y=error_bars(
                calibration.accuracy, calibration.low, calibration.high, theme.SPECIAL
            ),
            customdata=np.column_stack([calibration.confidence, calibration.counts]),
            hovertemplate="confidence %{customdata[0]:.3f}: %{y:.1%} of %{customdata[1]:,} "
            "right<extra></extra>",
            name="right",
        ),
        row=1,
        col=1,
    )
    fig.add_trace(
        scatter(
            x=calibration.confidence,
            y=calibration.accuracy,
            mode="markers",
            marker={"color": theme.ACCENT, "size": 7},
            hoverinfo="skip",
            name="mean confidence",
        ),
        row=1,
        col=1,
    )
    fig.add_trace(
        bar(
            x=middle,
            y=calibration.counts,
            width=width * 0.92,
            marker={"color": theme.SPECIAL, "line_width": 0},
            hovertemplate="%{y:,} answers<extra></extra>",
            showlegend=False,
        ),
        row=2,
        col=1,
    )
    theme.plot_layout(fig, "", "", "", 400)
    fig.update_xaxes(range=[0, 1], showgrid=False, tickformat=".0%")
    fig.update_xaxes(title_text="confidence", row=2)
    fig.update_yaxes(title_text="fraction right", range=[0, 1.02], tickformat=".0%", row=1)
    fig.update_yaxes(title_text="answers", row=2, nticks=3)
    fig.update_layout(margin={"t": 30, "r": 24})  # room for "100%"
    return fig


def slice_bars(
    slices: Mapping[str, Sequence[Slice]], *, by: str, mean: float, is_fraction: bool, name: str
) -> Figure:
    """Draw the mean of each slice with its 95% interval.

    Args:
        slices: Slices by their criterion.
        by: The criterion that is drawn.
        mean: Mean of all answers, a dotted line.
        is_fraction: Whether means are between 0 and 1.
        name: What they are means of.
    """
    groups = slices[by]
    names = [theme.escape(shorten(one.name, 26)) for one in groups]
    values = np.array([one.mean for one in groups])
    low, high = np.array([one.low for one in groups]), np.array([one.high for one in groups])
    fig = Figure(
        bar(
            x=values,
            y=list(range(len(groups))),
            orientation="h",
            marker={"color": theme.SEGMENT_A, "opacity": 0.5, "line_width": 0},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": np.nan_to_num(high - values),
                "arrayminus": np.nan_to_num(values - low),
                "color": theme.SPECIAL,
            },
            customdata=[[label, one.number] for label, one in zip(names, groups, strict=True)],
            hovertemplate="%{customdata[0]}: %{x:.3f} of %{customdata[1]:,}<extra></extra>",
        )
    )
    fig.add_vline(x=mean, line={"dash": "dot", "color": theme.SPECIAL})
    theme.plot_layout(fig, "", name, "", 30 * len(groups) + 70)
    fig.update_yaxes(
        tickvals=list(range(len(groups))),
        ticktext=[f"{label} ({one.number:,})" for label, one in zip(names, groups, strict=True)],
        range=[len(groups) - 0.4, -0.6],
        showgrid=False,
    )
    if is_fraction:
        fig.update_xaxes(range=[0, 1], tickformat=".0%")
        fig.update_layout(margin_r=24)  # room for "100%"
    else:
        fig.update_xaxes(rangemode="tozero")
    return fig


def error_table(errors: Sequence[WrongAnswer], severity: str) -> pd.DataFrame:
    """Return a row for each wrong answer; second texts only if there are any.

    Args:
        errors: The most severe first.
        severity: Name of that column.
    """
    table = pd.DataFrame(
        [
            {
                "row": error.row,
                "true": error.gold,
                "predicted": error.predicted,
                severity: error.severity,
                "text": error.text,
                "second text": error.text_pair,
            }
            for error in errors
        ]
    )
    return table.drop(columns="second text") if table["second text"].isna().all() else table


def calibration_table(calibration: Calibration) -> pd.DataFrame:
    """Return a row for each bin."""
    return pd.DataFrame(
        {
            "from": calibration.edges[:-1],
            "to": calibration.edges[1:],
            "answers": calibration.counts,
            "confidence": calibration.confidence,
            "right": calibration.accuracy,
            "low": calibration.low,
            "high": calibration.high,
        }
    )


def slice_table(slices: Mapping[str, Sequence[Slice]]) -> pd.DataFrame:
    """Return a row for each slice."""
    return pd.DataFrame(
        [
            {
                "by": by,
                "slice": s.name,
                "number": s.number,
                "mean": s.mean,
                "low": s.low,
                "high": s.high,
            }
            for by, groups in slices.items()
            for s in groups
        ]
    )
