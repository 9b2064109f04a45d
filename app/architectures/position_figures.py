"""Figures of a learned position table beside the formula."""

from __future__ import annotations

import pandas as pd

from bertcore.analysis.space.position_table import PositionTables

from ..plots import theme
from ..plots.figure import Figure, heatmap, subplots

NAMES = ("learned", "sinusoids")
COLOURS = (theme.SEGMENT_A, theme.SEGMENT_B)


def cosine_maps(tables: PositionTables) -> Figure:
    """Draw the cosines of all pairs of rows, learned and by formula, and their means."""
    fig = subplots(
        2,
        2,
        specs=[[{}, {}], [{"colspan": 2}, None]],
        row_heights=[0.7, 0.3],
        vertical_spacing=0.17,
        horizontal_spacing=0.08,
        subplot_titles=("learned", "sinusoids", "mean cosine at each distance"),
    )
    for column, cosines in enumerate((tables.learned_cosines, tables.sinusoid_cosines), start=1):
        fig.add_trace(
            heatmap(
                z=cosines.round(3),
                coloraxis="coloraxis",
                hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>",
            ),
            1,
            column,
        )
    means = (tables.learned_by_distance, tables.sinusoids_by_distance)
    for name, mean, colour in zip(NAMES, means, COLOURS, strict=True):
        fig.add(
            "scatter",
            2,
            1,
            x=list(range(len(mean))),
            y=mean,
            name=name,
            line={"color": colour, "width": 3},
            hovertemplate=f"{name}, %{{x}} apart: %{{y:.2f}}<extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", 680)
    fig.update_layout(
        coloraxis={
            "colorscale": theme.DIVERGING,
            "cmin": -1,
            "cmax": 1,
            "colorbar": theme.bar_beside("cosine", len=0.62, y=1, yanchor="top"),
        },
        margin={"t": 40},
        legend={"orientation": "h", "y": 0.24, "x": 0.75, "yanchor": "bottom"},
    )
    fig.update_annotations(font={"size": 16})
    for column in (1, 2):
        fig.update_xaxes(1, column, title_text="position", constrain="domain")
        fig.update_yaxes(1, column, autorange="reversed", showgrid=False)
    fig.update_xaxes(2, 1, title_text="places apart")
    return fig


def cosine_table(tables: PositionTables) -> pd.DataFrame:
    """Return a row for each position: cosine with the formula's row, means at that distance."""
    return pd.DataFrame(
        {
            "position": range(len(tables.cosines)),
            "cosine_with_sinusoid": tables.cosines,
            "learned_mean_at_this_distance": tables.learned_by_distance,
            "sinusoid_mean_at_this_distance": tables.sinusoids_by_distance,
        }
    )
