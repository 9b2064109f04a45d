"""Figures of a labelled file: calibration, and the wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.attribution import WrongAnswer
from bertcore.evaluation.calibration import Calibration

from ..plots import theme
from ..plots.error_bars import error_bars
from ..plots.figure import Figure, bar, scatter, subplots


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
