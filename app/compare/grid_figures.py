"""Grids of the Compare page: heads that attend differently, weights that moved, similar layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.weight_drift import LAYER_KINDS, Drift, WeightDrift

from ..plots import theme
from ..plots.figure import Figure, bar, scatter
from ..plots.head_cells import add_cells
from ..plots.similarity_map import heat_from_zero, lay_out_cells, map_height

MEASURES = {"relative": "relative change", "turn": "1 − cosine"}
"""What a tensor's drift is measured by."""
_NAN = "not a number"


def divergence_grid(change: NDArray[np.floating], opened: tuple[int, int] | None) -> Figure:
    """Draw how differently each head attends, bits [L, H]; the open head is framed.

    A transparent point covers each cell: these points can be clicked, and carry "layer.head" as
    `customdata`.
    """
    num_layers, num_heads = change.shape
    fig = Figure(heat_from_zero(change, 100 * change, num_heads, "bits"))
    add_cells(
        fig,
        num_layers,
        num_heads,
        size=_point(num_layers, num_heads),
        words=[_bits(float(value)) for value in change.flatten()],
        hover="<b>layer %{y} head %{x}</b><br>%{text}<extra></extra>",
        opened=opened,
    )
    theme.plot_layout(fig, "", "head", "layer", min(44 * num_layers, 520) + 70)
    lay_out_cells(fig, num_layers, num_heads)
    fig.update_layout(dragmode=False, clickmode="event+select")
    return fig


def drift_grid(drift: WeightDrift, measure: str) -> Figure:
    """Draw how far each part of each layer moved; rows are layers.

    Args:
        drift: Of two checkpoints with layers that both have.
        measure: A key of MEASURES.
    """
    layers = sorted({layer for layer, _ in drift.layers})
    kinds = [kind for kind in LAYER_KINDS.values() if any(kind == k for _, k in drift.layers)]
    values = np.array(
        [
            [_measured(drift.layers.get((layer, kind)), measure) for kind in kinds]
            for layer in layers
        ]
    )
    is_relative = measure == "relative"
    numbers, digits = (100 * values, "{:.1f}") if is_relative else (values, "{:.1g}")
    heat = heat_from_zero(values, numbers, len(kinds), "", digits)
    heat |= {
        "hoverinfo": None,
        "hovertemplate": "layer %{y}, %{x}: %{customdata}<extra></extra>",
        "customdata": [
            [drift_words(drift.layers.get((layer, kind))) for kind in kinds] for layer in layers
        ],
        "x": kinds,
        "y": layers,
    }
    heat["colorbar"]["tickformat"] = ".0%" if is_relative else ".1g"
    fig = Figure(heat)
    theme.plot_layout(fig, "", "", "layer", min(44 * len(layers), 560) + 126)
    # Turned: side by side the names run into each other in a narrow window.
    fig.update_xaxes(side="bottom", showgrid=False, tickangle=-40)
    fig.update_yaxes(
        autorange="reversed", showgrid=False, dtick=1 if len(layers) <= 24 else 4, type="linear"
    )
    fig.update_layout(margin={"l": 0, "r": 0, "t": 10, "b": 0})
    return fig


def other_bars(drift: WeightDrift, measure: str) -> Figure:
    """Draw how far the parts outside the layers moved; parts that are not numbers are marked."""
    names = list(reversed(list(drift.others)))
    values = [_measured(drift.others[name], measure) for name in names]
    drawn = [0.0 if not math.isfinite(value) else value for value in values]
    fig = Figure(
        bar(
            x=drawn,
            y=names,
            orientation="h",
            marker={"color": theme.SEGMENT_A, "line_width": 0},
            text=[f" {_short(value, measure)}" for value in values],
            textposition="outside",
            cliponaxis=False,
            customdata=[drift_words(drift.others[name]) for name in names],
            hovertemplate="%{y}: %{customdata}<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", MEASURES[measure], "", 28 * len(names) + 70)
    fig.update_layout(margin={"l": 0, "r": 40, "t": 10, "b": 0}, bargap=0.35)
    fig.update_xaxes(range=[0, max([*drawn, 1e-9]) * 1.15])
    fig.update_xaxes(tickformat=".0%" if measure == "relative" else ".2g", nticks=6)
    return fig


def similarity_curve(values: NDArray[np.float64], chance: NDArray[np.float64]) -> Figure:
    """Draw the CKA of each layer with the layer of the same number, as far as both have it.

    Args:
        values: [L1+1, L2+1].
        chance: Of shuffled examples, of the same shape.
    """
    diagonal = np.diagonal(values)
    fig = Figure(
        scatter(
            x=list(range(len(diagonal))),
            y=diagonal,
            mode="lines+markers",
            line={"color": theme.SEGMENT_A, "width": 2.5},
            marker={"size": 7},
            hovertemplate="layer %{x}: CKA %{y:.3f}<extra></extra>",
            showlegend=False,
        )
    )
    by_chance = np.diagonal(chance)
    if np.isfinite(by_chance).any():
        fig.add_trace(
            scatter(
                x=list(range(len(by_chance))),
                y=[None if value != value else float(value) for value in by_chance],
                mode="lines",
                name="chance",
                line={"color": theme.SPECIAL, "width": 1.5, "dash": "dash"},
                hovertemplate="layer %{x}: by chance %{y:.3f}<extra></extra>",
                showlegend=True,
            )
        )
    theme.plot_layout(
        fig, "", "layer (0: embeddings)", "CKA of equal layers", map_height(len(values))
    )
    fig.update_xaxes(dtick=1 if len(diagonal) <= 16 else 4)
    fig.update_yaxes(range=[min(-0.02, float(np.nanmin(diagonal, initial=0.0)) - 0.02), 1.04])
    fig.update_layout(margin={"l": 0, "r": 8, "t": 10, "b": 0})
    return fig


def drift_table(drift: WeightDrift) -> pd.DataFrame:
    """Return a row for each tensor."""
    return pd.DataFrame(
        [
            {
                "tensor": tensor.name,
                "part": tensor.part,
                "layer": tensor.layer,
                "relative_change": tensor.drift.relative,
                "cosine": tensor.drift.cosine,
                "norm_first": tensor.drift.norm_first,
                "norm_second": tensor.drift.norm_second,
                "num_weights": tensor.drift.num_weights,
                "rows": tensor.rows,
            }
            for tensor in drift.tensors
        ]
    ).astype({"layer": "Int64"})


def drift_words(drift: Drift | None) -> str:
    """Return a drift in words, for the hover text."""
    if drift is None:
        return "not in both"
    if math.isnan(drift.relative):
        return f"{_NAN} (NaN or infinity in the weights)"
    if math.isinf(drift.relative):
        return "was all zeros"
    turn = _NAN if math.isnan(drift.cosine) else f"{1 - drift.cosine:.3g}"
    return (
        f"moved by {100 * drift.relative:.3g}% of its length<br>1 − cosine {turn}<br>"
        f"length {drift.norm_first:.4g} → {drift.norm_second:.4g}<br>{drift.num_weights:,} numbers"
    )


def _measured(drift: Drift | None, measure: str) -> float:
    if drift is None:
        return math.nan
    return drift.relative if measure == "relative" else 1 - drift.cosine


def _short(value: float, measure: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "was all zeros"
    if measure == "relative":
        return f"{100 * value:.0f}%" if value >= 1 else f"{100 * value:.2g}%"
    return f"{value:.2g}"


def _bits(value: float) -> str:
    return _NAN if math.isnan(value) else f"{value:.3f} bits"


def _point(rows: int, columns: int) -> float:
    return max(6.0, min(40.0, 420 / max(rows, columns)))


def most_changed(change: NDArray[np.floating], count: int) -> Sequence[tuple[int, int]]:
    """Return (layer, head) of the heads that attend most differently, without 0 and NaN."""
    order = np.argsort(-np.nan_to_num(change), axis=None, kind="stable")[:count]
    places = [divmod(int(place), change.shape[1]) for place in order]
    return [(layer, head) for layer, head in places if change[layer, head] > 0]
