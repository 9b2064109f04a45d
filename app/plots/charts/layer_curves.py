"""Curves over the layers, with a band, a level of chance and a marked layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import theme
from ..figure import Figure
from .chart import Chart

HEIGHT = 316


class Curve(NamedTuple):
    """A column of the frame, drawn over the layers; NaN leaves a gap."""

    y: str
    name: str
    """{k} is the chart's."""
    place: int | None
    """Of its colour among the categorical ones; None for grey."""
    dash: str = "solid"
    is_optional: bool = False
    """Whether it is left out if it has no number at all."""


@dataclass(frozen=True, kw_only=True)
class LayerCurves(Chart):
    """Curves over the layers, each a column of the frame."""

    curves: Sequence[Curve]
    title: str
    unit: str
    is_fraction: bool = True
    """Whether 0 to 1 is in sight; else the axis begins at 0."""
    band: tuple[str, str, str] | None = None
    """Columns of the low and the high end of a band behind the curves, and its name."""
    form: str = ".3f"
    """Of a number in the hover text."""
    ticks: str = ""
    """Of the numbers along the axis."""
    x: str = "layer"
    """Column of the layers, or of what the curves go over instead."""
    x_title: str = "Layer (0: embeddings)"
    x_name: str = "layer"
    """What a number of `x` is called in the hover text."""
    marked: int | None = None
    """A layer that a dotted line marks."""
    height: int = HEIGHT
    """Pixels."""
    k: int = 0
    """Neighbours that were counted."""
    chance: float | None = None
    """Where a dashed line goes."""
    chance_name: str = ""
    is_name_below: bool = False
    """Whether the name of the dashed line is below it."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        fig = Figure()
        x = frame[self.x].tolist()
        if self.band is not None:
            low, high, name = self.band
            fig.add(
                "scatter",
                x=[*x, *reversed(x)],
                y=[*frame[high], *reversed([*frame[low]])],
                fill="toself",
                fillcolor="rgba(52, 87, 213, 0.18)",
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                name=name,
            )
        curves = [
            curve for curve in self.curves if not curve.is_optional or frame[curve.y].notna().any()
        ]
        for curve in curves:
            name, place = curve.name.format(k=self.k), curve.place
            fig.add(
                "scatter",
                x=x,
                y=[None if value != value else value for value in frame[curve.y].tolist()],
                mode="lines+markers",
                name=name,
                line={
                    "color": theme.SPECIAL if place is None else theme.CATEGORICAL[place],
                    "width": 2,
                    "dash": curve.dash,
                },
                marker={"size": 6},
                hovertemplate=f"{self.x_name} %{{x}}: %{{y:{self.form}}}<extra>{name}</extra>",
            )
        if self.chance is not None:
            fig.add_hline(
                y=self.chance,
                line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
                annotation={
                    "text": self.chance_name,
                    "font": {"size": 11, "color": theme.SPECIAL},
                    "yanchor": "top" if self.is_name_below else "bottom",
                },
            )
        if self.marked is not None:
            fig.add_vline(self.marked, line={"color": theme.SPECIAL, "width": 1, "dash": "dot"})
        over_layers(fig, x, self.title, self.unit, self.height)
        fig.update_xaxes(title_text=self.x_title)
        if not self.is_fraction:
            fig.update_yaxes(rangemode="tozero")
        else:
            drawn = frame[[curve.y for curve in curves]].to_numpy()
            low, high = np.nanmin(drawn, initial=0.0), np.nanmax(drawn, initial=1.0)
            fig.update_yaxes(range=[float(low) - 0.03, float(high) + 0.05])
        fig.update_yaxes(tickformat=self.ticks or None)
        fig.update_layout(showlegend=len(self.curves) > 1 or self.band is not None)
        return fig


def over_layers(
    fig: Figure, layers: Iterable[int], title: str, unit: str, height: int = HEIGHT
) -> None:
    """Give a figure its title, the names of its axes, and its legend below.

    Args:
        layers: Those that it shows; of a corpus not all are stored.
    """
    theme.plot_layout(fig, title, "Layer (0: embeddings)", unit, height)
    ticks = sorted(set(layers))
    fig.update_xaxes(tickmode="array", tickvals=ticks if len(ticks) <= 13 else ticks[::2])
    legend = {"y": -0.36, "yanchor": "top", "font": {"size": 11}}
    fig.update_layout(legend=legend, margin={"b": 8})
