"""Line charts over the layers: separation of labels, faithfulness of the map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import Faithfulness, Separation
from bertcore.analysis.space.projection import LayerMap

from ..plots import theme
from ..plots.figure import Figure, Properties, scatter

HEIGHT = 316


def separation_curve(separation: Separation) -> Figure:
    """Draw how well the labels separate in the full space, layer by layer."""
    fig = Figure(
        [
            line(separation.purity, f"neighbours with the same label (of {separation.k})", 0),
            line(separation.silhouette, "silhouette", 1, dash="dot"),
        ]
    )
    fig.add_hline(
        y=separation.chance,
        line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
        annotation={
            "text": "purity by chance",
            "font": {"size": 11, "color": theme.SPECIAL},
            "yanchor": "top",  # below the line
        },
    )
    low = min(0.0, float(separation.silhouette.min())) - 0.03
    return over_layers(fig, "Where do the labels separate?", "fraction; silhouette", [low, 1.05])


def faithfulness_curve(faithfulness: Faithfulness, layer_map: LayerMap) -> Figure:
    """Draw how much of the full space's neighbourhoods, and of its variance, the map keeps."""
    fig = Figure(
        [
            line(faithfulness.trustworthiness, "trustworthiness", 0),
            line(faithfulness.continuity, "continuity", 2, dash="dashdot"),
            line(faithfulness.overlap, f"shared neighbours (of {faithfulness.k})", 1, dash="dot"),
        ]
    )
    if layer_map.method == "pca":
        fig.add_trace(line(layer_map.explained.sum(1), "variance shown", 3, dash="dash"))
    return over_layers(fig, "How faithful is the map?", "fraction", [-0.03, 1.05])


def line(
    values: NDArray[np.floating],
    name: str,
    place: int,
    dash: str = "solid",
    layers: Sequence[int] | None = None,
) -> Properties:
    """Return a curve over the layers, 0 to L or those given; NaN leaves a gap."""
    return scatter(
        x=list(range(len(values)) if layers is None else layers),
        y=[None if value != value else float(value) for value in values.tolist()],
        mode="lines+markers",
        name=name,
        line={"color": theme.CATEGORICAL[place], "width": 2, "dash": dash},
        marker={"size": 6},
        hovertemplate="layer %{x}: %{y:.3f}<extra>" + name + "</extra>",
    )


def over_layers(fig: Figure, title: str, unit: str, span: list[float] | None) -> Figure:
    """Give curves their title and axes; `span` of the second, None for what they need."""
    theme.plot_layout(fig, title, "Layer (0: embeddings)", unit, HEIGHT)
    fig.update_yaxes(**({"range": span} if span else {"rangemode": "tozero"}))
    layers = sorted(set(fig.traces[0]["x"]))  # of a corpus not all are stored
    fig.update_xaxes(tickmode="array", tickvals=layers if len(layers) <= 13 else layers[::2])
    fig.update_layout(
        legend={"y": -0.36, "yanchor": "top", "font": {"size": 11}},
        margin={"b": 8},
        showlegend=True,
    )
    return fig


def separation_table(separation: Separation) -> pd.DataFrame:
    """Return a row for each layer."""
    return _by_layer(silhouette=separation.silhouette, purity=separation.purity)


def faithfulness_table(faithfulness: Faithfulness) -> pd.DataFrame:
    """Return a row for each layer."""
    return _by_layer(
        trustworthiness=faithfulness.trustworthiness,
        continuity=faithfulness.continuity,
        overlap=faithfulness.overlap,
    )


def _by_layer(**columns: NDArray[np.floating]) -> pd.DataFrame:
    num_layers = len(next(iter(columns.values())))
    return pd.DataFrame({"layer": np.arange(num_layers), **columns})
