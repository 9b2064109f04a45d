"""How far the measures of mixing agree, and how [SEP] fades in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import theme
from ..plots.cells import numbered
from ..plots.figure import Figure, heatmap

SHORT = {
    "weights": "weights",
    "norms": "norms",
    "block": "+ residual",
    "zeroing": "zeroing",
    "gradient": "gradient",
    "rollout": "rollout",
    "flow": "flow",
    "zeroing_rollout": "zeroing, rolled",
}
"""Short names of the measures."""
SIDE = 0.12
"""Horizontal offset of the two kinds of dots, in layers."""


class Agreement(NamedTuple):
    """How far the measures rank the tokens alike."""

    measures: Sequence[str]
    """[M]"""
    correlations: NDArray[np.float64]
    """Spearman's rank correlation of each two, [M, M]; NaN if there is none."""


class SeparatorFractions(NamedTuple):
    """The fraction of [SEP] in what tokens receive, by layer, and how much they mix at all."""

    weights: NDArray[np.float32]
    """By the attention weights, [L, H]."""
    norms: NDArray[np.float32]
    """By the norms of the weighted vectors, [L, H]."""
    block: NDArray[np.float32]
    """With residual connection and, if one follows, LayerNorm; all heads together, [L]."""
    mixing_ratio: NDArray[np.float32]
    """Mean over the tokens, [L]."""


def agreement(agreed: Agreement) -> Figure:
    """Draw the rank correlation of each two measures as a heat map."""
    measures, correlations = agreed
    names = [SHORT[name] for name in measures]
    known = np.isfinite(correlations)
    text = np.where(known, np.char.mod("%.2f", np.nan_to_num(correlations)), "–")
    fig = Figure(
        heatmap(
            z=correlations,
            x=names,
            y=names,
            zmin=-1,
            zmax=1,
            colorscale=theme.DIVERGING,
            xgap=1,
            ygap=1,
            showscale=False,
            hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
            **numbered(correlations, text.tolist(), 11, scale=theme.DIVERGING, low=-1),
        )
    )
    theme.plot_layout(fig, "Do they put the tokens in the same order?", "", "", 340)
    fig.update_xaxes(showgrid=False, tickangle=-45)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    return fig


def agreement_table(agreed: Agreement) -> pd.DataFrame:
    """Return the same numbers: a row and a column for each measure."""
    names = list(agreed.measures)
    table = pd.DataFrame(agreed.correlations, columns=names)
    table.insert(0, "measure", names)
    return table


def separator_fade(separator_fractions: SeparatorFractions, *, separator: str = "[SEP]") -> Figure:
    """Draw the fraction of [SEP] by layer: in the weights, in the norms, after the residual.

    A dot for each head, a line for their mean.

    Args:
        separator_fractions: What is drawn.
        separator: What the checkpoint calls it.
    """
    weights, norms, block, _ = separator_fractions
    layers = np.arange(len(weights))
    fig = Figure()
    kinds = ((weights, "attention weights", -SIDE), (norms, "norm-weighted", SIDE))
    for place, (fractions, name, side) in enumerate(kinds):
        num_heads = fractions.shape[1]
        fig.add(
            "scatter",
            x=np.repeat(layers + side, num_heads),
            y=fractions.ravel(),
            customdata=[(layer, head) for layer in layers for head in range(num_heads)],
            mode="markers",
            marker={"size": 6, "color": theme.CATEGORICAL[place], "opacity": 0.45},
            hovertemplate="layer %{customdata[0]}, head %{customdata[1]}: %{y:.1%}"
            f"<extra>{name}</extra>",
            showlegend=False,
        )
    means = (
        (weights.mean(1), "attention weights", "solid"),
        (norms.mean(1), "norm-weighted", "solid"),
        (block, "with residual", "dot"),
    )
    for place, (line, name, dash) in enumerate(means):
        fig.add(
            "scatter",
            x=layers,
            y=line,
            mode="lines+markers",
            name=name,
            line={"color": theme.CATEGORICAL[place], "width": 2.5, "dash": dash},
            hovertemplate="layer %{x}: %{y:.1%}<extra>" + name + "</extra>",
        )
    title = f"How much comes from {theme.escape(separator)}?"
    theme.plot_layout(fig, title, "Layer", "fraction of the row", 340)
    fig.update_yaxes(rangemode="tozero", tickformat=".0%")
    fig.update_xaxes(dtick=1, range=[-0.4, len(layers) - 0.6])
    legend = {"y": -0.24, "yanchor": "top", "font": {"size": 11}}
    fig.update_layout(legend=legend, margin={"b": 8})
    return fig


def separator_table(separator_fractions: SeparatorFractions) -> pd.DataFrame:
    """Return the same numbers: a row for each head; `block` is the same for a layer's heads."""
    weights, norms, block, _ = separator_fractions
    num_layers, num_heads = weights.shape
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(num_layers), num_heads),
            "head": np.tile(np.arange(num_heads), num_layers),
            "weights": weights.ravel(),
            "norm_weighted": norms.ravel(),
            "residual_and_norm": np.repeat(block, num_heads),
        }
    )
