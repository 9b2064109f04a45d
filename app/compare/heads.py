"""Which heads look differently in the two checkpoints, and one head of both beside each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from app.canvas.draw import MAP, keep_options, kept_options
from app.canvas.heat_map import heat_map
from app.canvas.shared.view_options import ViewOptions
from app.compare import case as compare
from app.compare import grid_figures as figures
from app.plots.before_after import head_table
from app.shell import frame, state, texts_lookup
from app.shell.state import Field

OFFERED = 6
"""Heads that are offered as buttons, the most changed first."""
_BEST = "best"
MAP_OPTIONS = Field("compare_map", "")


def show(case: compare.Case) -> None:
    """Draw the grid of heads and the open head of both."""
    change = case.found.divergence
    if change is None:
        st.info(texts_lookup.TEXTS["compare.no_heads"])
        return
    num_layers, num_heads = change.shape
    names = [f"{layer}.{head}" for layer in range(num_layers) for head in range(num_heads)]
    best = figures.most_changed(change, OFFERED)
    state.keep("compare_head", _BEST, options=[_BEST, *names])
    name = state.value("compare_head", _BEST)
    opened = (best[0] if best else (0, 0)) if name == _BEST else _parse(name)
    fig = figures.divergence_grid(change, opened)
    table = head_table({"divergence_bits": change})
    frame.figure(
        fig, "compare-heads", table, compare.code_of(case), on_select=pick("compare-heads")
    )
    row = st.container(horizontal=True, gap="small")
    for layer, head in best:
        bits = float(change[layer, head])
        label = (
            f"{layer}.{head}: {bits:.2f} bits"
            if bits >= 0.01
            else f"{layer}.{head}: {bits:.1g} bits"
        )
        row.button(label, key=f"compare_{layer}_{head}", on_click=_open, args=(layer, head))
    frame.how_to_read("compare.heads")
    if not case.found.units.are_tokens:
        st.caption(texts_lookup.TEXTS["compare.words"])
    _show_both(case, opened, float(change[opened]))


def pick(name: str, *, opens: bool = False) -> Callable[[], None]:
    """Return what opens the head that was clicked in a figure.

    Args:
        name: Of the figure.
        opens: Turn to the view of heads.
    """

    def clicked() -> None:
        points = st.session_state[f"figure_{name}"]["selection"]["points"]
        if points and points[0].get("customdata"):
            state.put("compare_head", points[0]["customdata"])
            if opens:
                state.put("compare_view", "heads")

    return clicked


def _open(layer: int, head: int) -> None:
    state.put("compare_head", f"{layer}.{head}")


def _parse(name: str) -> tuple[int, int]:
    layer, head = name.split(".")
    return int(layer), int(head)


def _show_both(case: compare.Case, opened: tuple[int, int], bits: float) -> None:
    """Draw the open head's attention in both checkpoints."""
    layer, head = opened
    st.subheader(f"Layer {layer} head {head} in both: {bits:.3f} bits apart", anchor=False)
    pair = st.container(horizontal=True, key="compare_maps")
    maps = {}
    for which, name, trace in zip(("first", "second"), case.names, case.traces, strict=True):
        weights = trace.attentions[layer, head].float().numpy()
        maps[which] = weights
        maps[f"tokens_{which}"] = np.array(trace.tokens)
        with pair.container():
            heat_map.draw(
                trace,
                weights,
                f"{name}: layer {layer} head {head}",
                [layer],
                [head],
                options=kept_options(MAP_OPTIONS, heat_map),
                key=f"compare_map_{which}",
                on_selection=_chosen_in_map,
                on_options=_options_changed,
            )
    more = (
        f"traces[0].attentions[{layer}, {head}], traces[1].attentions[{layer}, {head}]  # [T, T]\n"
    )
    frame.downloads(f"compare-head-{layer}-{head}", maps, compare.code_of(case) + more)
    MAP.caption()


def _options_changed(options: ViewOptions) -> None:
    keep_options(MAP_OPTIONS, heat_map, options)


def _chosen_in_map(chosen: heat_map.Selection) -> None:
    """Open the head that was chosen in a map; a mean of several has no place on this page."""
    if chosen["layers"] and chosen["heads"]:
        _open(chosen["layers"][-1], chosen["heads"][-1])
