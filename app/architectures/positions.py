"""The checkpoint's position table beside the sinusoids of the Transformer."""

import pandas as pd

from bertcore.analysis.space.position_table import PositionTables, position_tables

from ..plots import Figure, heatmap, subplots, theme
from ..shell import Picture, frame

MOST_POSITIONS = 128


def _cosine_maps(tables: PositionTables) -> Figure:
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
        hover = "%{y} and %{x}: %{z:.2f}<extra></extra>"
        heat = heatmap(z=cosines.round(3), coloraxis="coloraxis", hovertemplate=hover)
        fig.add_trace(heat, 1, column)
    for name, mean, colour in (
        ("learned", tables.learned_by_distance, theme.SEGMENT_A),
        ("sinusoids", tables.sinusoids_by_distance, theme.SEGMENT_B),
    ):
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


def _cosine_table(tables: PositionTables) -> pd.DataFrame:
    """Return a row for each position: cosine with the formula's row, means at that distance."""
    return pd.DataFrame(
        {
            "position": range(len(tables.cosines)),
            "cosine_with_sinusoid": tables.cosines,
            "learned_mean_at_this_distance": tables.learned_by_distance,
            "sinusoid_mean_at_this_distance": tables.sinusoids_by_distance,
        }
    )


POSITIONS = Picture(
    name="positions-beside-sinusoids",
    needs=frozenset({"positions"}),
    figure=_cosine_maps,
    table=_cosine_table,
    how=(
        "Each cell is the cosine of two of the first {num} rows. Left: learned, as in BERT and "
        "GPT. Right: sines and cosines of decreasing frequency, as in the Transformer, where the "
        "cosine depends only on the distance. Below: the mean at each distance. The mean of the "
        "{num} cosines between a learned row and the formula's row of the same position is "
        "**{mean:.2f}**."
    ),
    code="""
from bertcore.analysis.space.position_table import position_tables

tables = position_tables(bert, {num})
tables.learned_cosines, tables.sinusoid_cosines, tables.cosines
""",
)


def show_positions(page: frame.Page) -> None:
    """Draw both tables."""
    if not POSITIONS.is_available(page):
        return
    tables = page.compute(position_tables, MOST_POSITIONS)
    num, mean = len(tables.learned), float(tables.cosines.mean())
    POSITIONS.show(page, tables, num=num, mean=mean)
