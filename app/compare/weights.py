"""How far the weights moved: a grid of layers by parts, and the parts outside the layers."""

import streamlit as st

from bertcore.analysis.compare.weight_drift import WeightDrift, part_of

from ..plots import plain
from ..plots.drift import MEASURES, drift_grid, drift_table, other_bars, other_table
from ..shell import Field, Picture, one_of
from .case import Case, opening_code

MEASURE = Field("compare_measure", "relative", tuple(MEASURES))
NOT_FINITE = (
    "NaN or infinity in {count}: {names}. Such a drift is not a number, and its cell is empty."
)
OTHER_SHAPES = (
    "Not compared, since their shapes differ: {count}, such as {example} ({first} and {second})."
)
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
    table=other_table,
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
