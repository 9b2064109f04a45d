"""How far weights moved: a grid of layers by parts, and bars of the parts outside the layers."""

import math

import numpy as np
import pandas as pd

from bertcore.analysis.compare.weight_drift import LAYER_KINDS, Drift, WeightDrift

from . import theme
from .cell_table import records
from .cells import heat_from_zero
from .figure import Figure

MEASURES = {"relative": "relative change", "turn": "1 − cosine"}
"""What a tensor's drift is measured by."""
_SMALL = 0.02  # largest relative change of a grid whose numbers have two significant digits each


def drift_grid(drift: WeightDrift, measure: str = "relative") -> Figure:
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
    is_small = values[np.isfinite(values)].max(initial=0.0) < _SMALL
    if is_relative:
        numbers, digits = 100 * values, "{:.2g}" if is_small else "{:.1f}"
    else:
        numbers, digits = values, "{:.1g}"
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
    heat["colorbar"]["tickformat"] = (".2%" if is_small else ".0%") if is_relative else ".1g"
    fig = Figure(heat)
    theme.plot_layout(fig, "", "", "layer", min(44 * len(layers), 560) + 126)
    # Turned: side by side the names run into each other in a narrow window.
    fig.update_xaxes(side="bottom", showgrid=False, tickangle=-40)
    fig.update_yaxes(
        autorange="reversed", showgrid=False, dtick=1 if len(layers) <= 24 else 4, type="linear"
    )
    fig.update_layout(margin={"l": 0, "r": 0, "t": 10, "b": 0})
    return fig


def other_bars(drift: WeightDrift, measure: str = "relative") -> Figure:
    """Draw how far the parts outside the layers moved; parts that are not numbers are marked."""
    names = list(reversed(list(drift.others)))
    values = [_measured(drift.others[name], measure) for name in names]
    drawn = [0.0 if not math.isfinite(value) else value for value in values]
    fig = Figure()
    fig.add(
        "bar",
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
    theme.plot_layout(fig, "", MEASURES[measure], "", 28 * len(names) + 70)
    fig.update_layout(margin={"l": 0, "r": 40, "t": 10, "b": 0}, bargap=0.35)
    fig.update_xaxes(range=[0, max([*drawn, 1e-9]) * 1.15])
    fig.update_xaxes(tickformat=".2~%" if measure == "relative" else ".2g", nticks=6)
    return fig


def drift_table(drift: WeightDrift) -> pd.DataFrame:
    """Return a row for each tensor."""
    table = records(
        drift.tensors,
        "tensor=name",
        "part",
        "layer",
        "relative_change=drift.relative",
        "cosine=drift.cosine",
        "norm_first=drift.norm_first",
        "norm_second=drift.norm_second",
        "num_weights=drift.num_weights",
        "num_changed=drift.num_changed",
        "rows",
    )
    return table.astype({"layer": "Int64"})


def drift_words(drift: Drift | None) -> str:
    """Return a drift in words, for the hover text."""
    if drift is None:
        return "not in both"
    if math.isnan(drift.relative):
        return "not a number (NaN or infinity in the weights)"
    if math.isinf(drift.relative):
        return "was all zeros"
    turn = "not a number" if math.isnan(drift.cosine) else f"{1 - drift.cosine:.3g}"
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


def other_table(drift: WeightDrift) -> pd.DataFrame:
    """Return a row for each tensor outside the layers."""
    table = drift_table(drift)
    return table[table["layer"].isna()]
