"""How far the weights moved: a grid of layers by parts, and what lies outside the layers."""

from __future__ import annotations

import streamlit as st

from app.compare import case as compare
from app.compare import grid_figures as figures
from app.plots.untrusted_text import plain
from app.shell import frame, state, texts_lookup
from bertcore.analysis.compare.weight_drift import WeightDrift, part_of


def show(case: compare.Case) -> None:
    """Draw the drift of all weights."""
    found = case.drift
    code = compare.opening_code(case) + texts_lookup.CODE["compare.weights"]
    picture = st.container()
    measure = st.segmented_control(
        "Measure",
        list(figures.MEASURES),
        format_func=figures.MEASURES.__getitem__,
        key=state.keep("compare_measure", "relative", options=list(figures.MEASURES)),
        required=True,
        label_visibility="collapsed",
    )
    with picture:
        if found.layers:
            fig = figures.drift_grid(found, measure)
            frame.figure(fig, "compare-weights", figures.drift_table(found), code)
        else:
            st.info(texts_lookup.TEXTS["compare.no_weights"])
    frame.how_to_read("compare.weights")
    if found.others:
        st.subheader("Outside the layers", anchor=False)
        fig = figures.other_bars(found, measure)
        table = figures.drift_table(found)
        frame.figure(fig, "compare-others", table[table["layer"].isna()], code)
    _say(case, found)


def _say(case: compare.Case, found: WeightDrift) -> None:
    """Say which tensors are not numbers, missing, or of other shapes."""
    if found.not_finite:
        names = ", ".join(plain(name) for name in found.not_finite[:3])
        count = len(found.not_finite)
        names += f" and {count - 3} more" if count > 3 else ""
        said = texts_lookup.TEXTS["compare.not_finite"].format(count=_tensors(count), names=names)
        st.error(said)
    for name, tensors in zip(case.names, (found.only_first, found.only_second), strict=True):
        if tensors:
            parts = dict.fromkeys(_part_words(tensor) for tensor in tensors)
            text = texts_lookup.TEXTS["compare.missing"]
            st.caption(text.format(name=plain(name), parts=plain(_listed(list(parts)))))
    if found.mis_shaped:
        example, (one, two) = next(iter(found.mis_shaped.items()))
        st.caption(
            texts_lookup.TEXTS["compare.shapes"].format(
                count=_tensors(len(found.mis_shaped)),
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
