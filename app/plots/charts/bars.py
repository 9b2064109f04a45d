"""Horizontal bars with their names at the ends, in plots side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from .. import theme
from ..figure import Figure, subplots
from ..formats import percent
from .chart import Chart, Column, column

ABREAST = 3  # plots side by side


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Probabilities as bars, a plot for each group of rows, all on one scale."""

    value: str
    name: str
    by: str
    """Column whose values are the plots."""
    accent: Column
    """Whether each bar stands out."""
    titles: Sequence[str] = ()
    """Title of each plot, in Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        frame = frame.assign(accent=column(frame, self.accent))
        groups = [rows for _, rows in frame.groupby(self.by, sort=False)]
        columns, longest = min(ABREAST, len(groups)), max(map(len, groups))
        rows = -(-len(groups) // columns)
        height = rows * (24 * longest + 58)
        fig = subplots(
            rows,
            columns,
            subplot_titles=self.titles,
            horizontal_spacing=0.04,
            vertical_spacing=58 / height,
        )
        for index, group in enumerate(groups):
            names = [theme.escape(name) for name in group[self.name]]
            values = group[self.value].to_numpy()
            labels = [f"<b>{n}</b>  {percent(v)}" for n, v in zip(names, values, strict=True)]
            colours = [theme.ACCENT if out else theme.SEGMENT_A for out in group["accent"]]
            fig.add(
                "bar",
                x=values,
                y=list(range(len(names))),
                orientation="h",
                text=labels,
                textposition="outside",
                cliponaxis=False,
                marker={"color": colours, "line_width": 0},
                customdata=names,
                hovertemplate="%{customdata}: %{x:.4%}<extra></extra>",
                showlegend=False,
                row=index // columns + 1,
                col=index % columns + 1,
            )
        theme.plot_layout(fig, "", "", "", height)
        fig.update_layout(bargap=0.25, margin={"l": 0, "r": 0, "t": 42, "b": 4})
        # Room for the label at the end of the longest bar, in a column 470 pixels wide.
        room = (1.5, 2.1, 2.9)[columns - 1]
        fig.update_xaxes(visible=False, range=[0, float(frame[self.value].max()) * room])
        fig.update_yaxes(visible=False, autorange="reversed")
        fig.update_annotations(font_size=13, xanchor="left", align="left")
        for index, annotation in enumerate(fig.settings.get("annotations", ())):
            (left, _), _ = fig.domain(index // columns + 1, index % columns + 1)
            annotation["x"] = left
        return fig
