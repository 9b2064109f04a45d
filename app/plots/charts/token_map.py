"""A map with a word in each cell, whose colour is its probability."""

from dataclasses import dataclass

import pandas as pd

from .. import theme
from ..cells import cell_text
from ..figure import Figure
from ..formats import ON_AXIS, percent, shorten
from .chart import Chart, Column, column


@dataclass(frozen=True, kw_only=True)
class TokenMap(Chart):
    """Words in cells, coloured by probability."""

    text: str
    value: str
    x: str
    """Column of numbers that orders the cells of a row; of several rows for a cell the first is
    drawn."""
    x_name: Column
    """Name of each cell's column; names may repeat."""
    y: str
    """Column of numbers that orders the rows."""
    y_name: Column
    is_upwards: bool = False
    """Whether the first row is at the bottom."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.drop_duplicates([self.y, self.x]).sort_values([self.y, self.x])
        shape = (-1, frame[self.x].nunique())
        words = frame[self.text].to_numpy(dtype=object).reshape(shape)
        values = frame[self.value].to_numpy().reshape(shape)
        columns, rows = column(frame, self.x_name)[: shape[1]], column(frame, self.y_name)
        rows = rows[:: shape[1]]
        letters = max(6, 70 // len(columns))
        hover = [
            [
                f"<b>{theme.escape(word)}</b>  {percent(float(p))}<br>"
                f"{theme.escape(row)}, {theme.escape(name)}"
                for word, p, name in zip(line, numbers, columns, strict=True)
            ]
            for line, numbers, row in zip(words, values, rows, strict=True)
        ]
        fig = Figure()
        fig.add(
            "heatmap",
            z=values,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=theme.SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=2,
            ygap=2,
            colorbar=theme.bar_above("probability", tickformat=".0%"),
        )
        texts = [[theme.escape(shorten(word, letters)) for word in line] for line in words]
        fig.add_trace(cell_text(values, texts, 12 if len(columns) < 8 else 10))
        theme.plot_layout(fig, "", "", "", 30 * len(rows) + 100)
        fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
        short = [name.replace("layer ", "") for name in columns] if len(columns) > 7 else columns
        fig.update_xaxes(
            range=[-0.5, len(columns) - 0.5],
            tickvals=list(range(len(columns))),
            ticktext=[theme.escape(name) for name in short],
            tickangle=0,
            showgrid=False,
        )
        upwards = [-0.5, len(rows) - 0.5]
        fig.update_yaxes(
            range=upwards if self.is_upwards else upwards[::-1],
            tickvals=list(range(len(rows))),
            ticktext=[theme.escape(shorten(name, ON_AXIS)) for name in rows],
            showgrid=False,
        )
        return fig
