"""Charts of the geometry of the vectors: cosines, rogue dimensions, lengths, dimension, CKA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..plots import theme
from ..plots.figure import Figure, bar, scatter
from ..plots.similarity_map import similarity_map
from .curve_figures import line, over_layers
from .view import Measured


def cosine_curve(measured: Measured) -> Figure:
    """Draw the mean cosine of different words, of a repeated word, and their difference."""
    found, layers = measured.geometry, measured.layers
    fig = Figure([line(found.any_pair, "any two words", 0, layers=layers)])
    if found.num_words:
        fig.add_trace(line(found.same_word, "the same word twice", 1, "dot", layers))
        if np.isfinite(found.corrected).any():
            fig.add_trace(line(found.corrected, "the difference", 2, "dash", layers))
    curves = np.concatenate([found.any_pair, found.same_word, found.corrected, [0.0]])
    low = float(np.nanmin(curves)) - 0.03
    return over_layers(fig, "How alike are the vectors?", "mean cosine", [low, 1.05])


def rogue_bars(measured: Measured) -> Figure:
    """Draw the dimensions with the largest share of the mean cosine, a stack for each layer."""
    found, layers = measured.geometry, measured.layers
    fig = Figure()
    for place in range(found.rogue.shape[1]):
        names = [str(dimension) for dimension in found.rogue[:, place]]
        fig.add_trace(
            bar(
                x=list(layers),
                y=[None if share != share else share for share in found.rogue_share[:, place]],
                name=f"{place + 1}",
                text=names,
                textposition="inside",
                insidetextanchor="middle",
                marker={"color": theme.CATEGORICAL[place], "line_width": 0},
                customdata=names,
                hovertemplate="layer %{x}, dimension %{customdata}: %{y:.1%}<extra></extra>",
            )
        )
    over_layers(fig, "Rogue dimensions", "share of the mean cosine", None)
    fig.update_layout(barmode="stack", showlegend=False)
    fig.update_yaxes(tickformat=".0%")
    return fig


def dimension_curve(measured: Measured) -> Figure:
    """Draw the intrinsic dimension of each layer."""
    found = measured.geometry.intrinsic_dimension
    fig = Figure([line(found, "TwoNN", 0, layers=measured.layers)])
    over_layers(fig, "How many directions?", "intrinsic dimension", None)
    fig.update_layout(showlegend=False)
    return fig


def length_curve(measured: Measured) -> Figure:
    """Draw the median length of each layer's vectors, and the band of the middle 80%."""
    low, middle, high = measured.geometry.length
    x = list(measured.layers)
    band = scatter(
        x=[*x, *reversed(x)],
        y=[*high.tolist(), *reversed(low.tolist())],
        fill="toself",
        fillcolor="rgba(52, 87, 213, 0.18)",
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        name="80% of the points",
    )
    fig = Figure([band, line(middle, "median", 0, layers=x)])
    return over_layers(fig, "How long are the vectors?", "length", None)


def layer_similarity_map(measured: Measured) -> Figure:
    """Draw the debiased CKA of every two layers."""
    assert measured.similarity is not None
    fig = similarity_map(measured.similarity.debiased, ("", ""))
    names = [str(layer) for layer in measured.layers]
    fig.traces[0] |= {"x": names, "y": names}
    fig.update_xaxes(title_text="layer", type="category")
    fig.update_yaxes(title_text="layer", type="category")
    return fig


def geometry_table(measured: Measured) -> pd.DataFrame:
    """Return a row for each layer with all measures."""
    found = measured.geometry
    low, middle, high = found.length
    columns: dict[str, Any] = {
        "layer": list(measured.layers),
        "any_pair": found.any_pair,
        "same_word": found.same_word,
        "difference": found.corrected,
        "intrinsic_dimension": found.intrinsic_dimension,
        "length_10": low,
        "length_50": middle,
        "length_90": high,
    }
    for place in range(found.rogue.shape[1]):
        columns[f"rogue_{place + 1}"] = found.rogue[:, place]
        columns[f"rogue_{place + 1}_share"] = found.rogue_share[:, place]
    return pd.DataFrame(columns)


def similarity_table(measured: Measured) -> pd.DataFrame:
    """Return a row for each pair of layers."""
    similarity = measured.similarity
    assert similarity is not None
    return pd.DataFrame(
        [
            {
                "layer_first": measured.layers[i],
                "layer_second": measured.layers[j],
                "cka": similarity.plain[i, j],
                "cka_debiased": similarity.debiased[i, j],
                "cka_chance": similarity.plain_chance[i, j],
                "cka_debiased_chance": similarity.debiased_chance[i, j],
            }
            for i, j in np.ndindex(*similarity.plain.shape)
        ]
    )
