"""Which heads attend differently in the two checkpoints, and one head of both side by side."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.heads.attention import attention_map
from bertcore.interventions import parse_head

from ..canvas.heat_map import heat_map
from ..canvas.shared.session import keep_options, kept_options, last_revision
from ..plots import Figure, theme
from ..plots.before_after import divergence_table
from ..plots.cells import clickable_heads, heat_from_zero, most_changed
from ..shell import Field, Picture
from .case import Case, code_of

MOST_CHANGED = "best"  # stands for the head that differs most
VIEW = Field("compare_view", "answers")
HEAD = Field("compare_head", MOST_CHANGED)
MAP_OPTIONS = Field("compare_map", "")  # view options of the two heat maps
OFFERED = 6  # heads that are offered as buttons, the most changed first

NO_HEADS = (
    "The two have different numbers of layers or heads, so no head of one corresponds to a head of "
    "the other. *Layers over many texts* can still compare their layers."
)
MERGED_WORDS = (
    "The two tokenize this text differently, so words are compared: vectors as the mean over a "
    "word's pieces, attention and attribution as their sum."
)


def divergence_grid(change: NDArray[np.floating], opened: tuple[int, int] | None) -> Figure:
    """Draw how differently each head attends, bits [L, H]; the open head is framed.

    A transparent point covers each cell: these points can be clicked, and carry "layer.head" as
    `customdata`.
    """
    num_layers, num_heads = change.shape
    fig = clickable_heads(
        heat_from_zero(change, 100 * change, num_heads, "bits"),
        change.shape,
        size=max(6.0, min(40.0, 420 / max(num_layers, num_heads))),
        words=[_bits(float(value)) for value in change.flatten()],
        hover="<b>layer %{y} head %{x}</b><br>%{text}<extra></extra>",
        opened=opened,
    )
    theme.plot_layout(fig, "", "head", "layer", min(44 * num_layers, 520) + 70)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 10, "b": 0})
    return fig


def _bits(value: float) -> str:
    return "not a number" if math.isnan(value) else f"{value:.3f} bits"


HEADS = Picture(
    name="compare-heads",
    figure=divergence_grid,
    table=divergence_table,
    how=(
        "How differently each head attends to this text in the two checkpoints: Jensen-Shannon "
        "divergence of its rows, mean over the tokens; 0 means the same, 1 bit nothing in common. "
        "The cells show hundredths of a bit. Click a cell to see both heads below."
    ),
    code="""
comparison.divergence                                   # [L, H], bits
""",
)
ONE_HEAD = Picture(
    name="compare-head",
    table=dict,
    how=heat_map.HOW,
    code="""
traces[0].attentions[{layer}, {head}], traces[1].attentions[{layer}, {head}]  # [T, T]
""",
)


def show_heads(case: Case) -> None:
    """Draw the grid of heads and the open head of both."""
    change = case.comparison.divergence
    if change is None:
        st.info(NO_HEADS)
        return
    num_layers, num_heads = change.shape
    names = [f"{layer}.{head}" for layer in range(num_layers) for head in range(num_heads)]
    best = most_changed(change, OFFERED)
    HEAD.key(options=[MOST_CHANGED, *names])
    name = HEAD.value
    opened = (best[0] if best else (0, 0)) if name == MOST_CHANGED else parse_head(name)
    HEADS.show(
        None,
        change,
        drawn={"opened": opened},
        setup=code_of(case),
        on_select=HEAD.put,
        with_caption=False,
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
    HEADS.caption()
    if not case.comparison.units.are_tokens:
        st.caption(MERGED_WORDS)
    _show_both(case, opened, float(change[opened]))


def _open(layer: int, head: int) -> None:
    HEAD.put(f"{layer}.{head}")


def _show_both(case: Case, opened: tuple[int, int], bits: float) -> None:
    """Draw the open head's attention in both checkpoints."""
    layer, head = opened
    st.header(f"Layer {layer} head {head} in both: {bits:.3f} bits apart", anchor=False)
    pair = st.container(horizontal=True, key="compare_maps")
    maps: dict[str, NDArray[Any]] = {}
    for which, name, trace in zip(("first", "second"), case.names, case.traces, strict=True):
        weights = trace.attentions[layer, head].float().numpy()
        maps[which] = weights
        maps[f"tokens_{which}"] = np.array(trace.tokens)
        with pair.container():
            key, title = f"compare_map_{which}", f"{name}: layer {layer} head {head}"
            options, revision = kept_options(MAP_OPTIONS, heat_map), last_revision(key)
            heat_map.COMPONENT(
                heat_map.message(
                    replace(attention_map(trace, [layer], [head]), title=title), revision, options
                ),
                key=key,
                selection=_chosen_in_map,
                look=partial(keep_options, MAP_OPTIONS, heat_map),
            )
    ONE_HEAD.offer(None, maps, setup=code_of(case), layer=layer, head=head)


def _chosen_in_map(chosen: heat_map.Selection) -> None:
    """Open the head that was chosen in a map; a mean of several has no place on this page."""
    if chosen["layers"] and chosen["heads"]:
        _open(chosen["layers"][-1], chosen["heads"][-1])
