"""How far the weights moved: a grid of layers by parts, and the parts outside the layers."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.compare.weight_drift import LAYER_KINDS, Drift, WeightDrift, part_of

from ..plots import Figure, bar, plain, records, theme
from ..plots.cells import heat_from_zero
from ..shell import Field, Picture, one_of
from .case import Case, opening_code

MEASURES = {"relative": "relative change", "turn": "1 − cosine"}
"""What a tensor's drift is measured by."""
MEASURE = Field("compare_measure", "relative", tuple(MEASURES))
NOT_FINITE = (
    "NaN or infinity in {count}: {names}. Such a drift is not a number, and its cell is empty."
)
OTHER_SHAPES = (
    "Not compared, since their shapes differ: {count}, such as {example} ({first} and {second})."
)


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


def _other_table(drift: WeightDrift) -> pd.DataFrame:
    table = drift_table(drift)
    return table[table["layer"].isna()]


_CODE = """
from bertcore.analysis.compare.weight_drift import weight_drift

drift = weight_drift(first, second)
drift.layers, drift.others, drift.tensors
"""
WEIGHTS = Picture(
    name="compare-weights",
    figure=drift_grid,
    table=drift_table,
    how=(
        "How far each matrix, with its bias, moved from the first to the second. Relative change: "
        "the Frobenius norm of the difference divided by that of the first; 10% is a tenth of its "
        "length. 1 − cosine: how far its direction turned, regardless of length. Fine-tuning moves "
        "the matrices of a small BERT by about 3 to 20%; between unrelated networks the change is "
        "over 100% and 1 − cosine is near 1."
    ),
    code=_CODE,
)
OTHERS = Picture(
    name="compare-others",
    figure=other_bars,
    table=_other_table,
    how=(
        "The same measure for the parts outside the encoder's layers: embeddings, pooler, and the "
        "heads that both have. For parts of all zeros or NaN, this is written instead of a bar."
    ),
    code=_CODE,
)


def show_weights(case: Case) -> None:
    """Draw the drift of all weights."""
    drift = case.drift
    setup = opening_code(case)
    picture = st.container()
    measure = one_of("Measure", MEASURES, MEASURE)
    with picture:
        if drift.layers:
            drawn = {"measure": measure}
            WEIGHTS.show(None, drift, drawn=drawn, setup=setup, with_caption=False)
        else:
            st.info("No layer has matrices of the same shape in both, so no drift can be drawn.")
    WEIGHTS.caption()
    if drift.others:
        st.header("Outside the layers", anchor=False)
        OTHERS.show(None, drift, drawn={"measure": measure}, setup=setup)
    _note_left_out(case, drift)


def _note_left_out(case: Case, drift: WeightDrift) -> None:
    """State which tensors are not numbers, missing, or of other shapes."""
    if drift.not_finite:
        names = ", ".join(plain(name) for name in drift.not_finite[:3])
        count = len(drift.not_finite)
        names += f" and {count - 3} more" if count > 3 else ""
        st.error(NOT_FINITE.format(count=_tensors(count), names=names))
    for name, tensors in zip(case.names, (drift.only_first, drift.only_second), strict=True):
        if tensors:
            parts = dict.fromkeys(_part_words(tensor) for tensor in tensors)
            st.caption(f"Only {plain(name)} has: {plain(_listed(list(parts)))}.")
    if drift.mis_shaped:
        example, (one, two) = next(iter(drift.mis_shaped.items()))
        st.caption(
            OTHER_SHAPES.format(
                count=_tensors(len(drift.mis_shaped)),
                example=plain(example),
                first=" x ".join(map(str, one)),
                second=" x ".join(map(str, two)),
            )
        )


def _tensors(count: int) -> str:
    return "1 tensor" if count == 1 else f"{count:,} tensors"


def _part_words(tensor: str) -> str:
    layer, part = part_of(tensor)
    return part if layer is None else f"layer {layer}"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts[:8]) + (f" and {len(parts) - 8} more" if len(parts) > 8 else "")
