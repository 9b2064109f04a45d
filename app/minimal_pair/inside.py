"""What differs inside: the attention of a head, each head, and each token's vector by layer."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.compare.minimal_pair import MinimalPair, aligned_attention

from ..plots import Figure, cell_table, theme
from ..plots.before_after import attention_grid, divergence_table
from ..plots.cells import most_changed
from ..shell import Field, Picture, frame
from .compared import (
    ALL_TOKENS,
    COMPARE_CODE,
    MOST_DRAWN,
    ComparedRuns,
    column_axis,
    drawn_columns,
    gap,
    label_room,
    layer_map,
    note_left_out,
)

MOST_CHANGED = 5  # most heads that are offered, the most changed first
MOST_EXACT = 96  # most columns for which the hover text has both weights; the NPZ has them always
MEAN = -1  # stands for the mean of a layer's heads

LAYER = Field("pair_layer", 0)
HEAD = Field("pair_head", MEAN)


class Attention(NamedTuple):
    """The attention of both versions over the aligned columns."""

    compared: ComparedRuns
    first: NDArray[np.float32]
    """[N, N]; NaN where the version has no such token."""
    second: NDArray[np.float32]
    """[N, N]"""


def _difference_map(attention: Attention, *, drawn: list[int], is_dark: bool) -> Figure:
    """Draw how much more (blue) or less (orange) each token attends to each in the second version.

    Args:
        attention: Of both.
        drawn: Columns to draw.
    """
    some = np.ix_(drawn, drawn)
    names, changed = attention.compared.names(drawn), attention.compared.changed(drawn)
    first, second = attention.first[some], attention.second[some]
    points = 100 * (second - first)
    top = max(0.1, float(np.nanmax(np.abs(points), initial=0.0)))
    size = len(names)
    exact = size <= MOST_EXACT
    hover = "<b>%{customdata[0]}</b><br>attends to <b>%{customdata[1]}</b>: "
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    data, more = None, "%{z:+.2f} percentage points"
    if exact:
        rows, columns = np.meshgrid(labels, labels, indexing="ij")
        data = np.dstack([rows, columns, first.astype(object), second.astype(object)])
        more = "%{customdata[2]:.2%} → %{customdata[3]:.2%}<br>" + more
    else:
        hover = "token %{y} attends to token %{x}: "
    fig = Figure()
    fig.heat(
        points,
        theme.around_zero(top, is_dark),
        hover + more,
        gap=gap(names),
        colorbar=theme.bar_above("percentage points"),
        customdata=data,
    )
    room = label_room(names)
    side = min(640, max(280, 26 * size))
    theme.plot_layout(fig, "", "attended to", "attends", side + room + 110)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    axis = column_axis(names, changed, 11)
    # Below the names, which may be turned; Plotly would set it among them here.
    fig.update_xaxes(**axis, range=[-0.5, size - 0.5], title_standoff=12)
    del axis["tickangle"]
    fig.update_yaxes(**axis, range=[size - 0.5, -0.5])
    return fig


def _difference_arrays(attention: Attention) -> dict[str, NDArray]:  # type: ignore[type-arg]
    columns = attention.compared.pair.columns
    return {
        "difference": attention.second - attention.first,
        "first": attention.first,
        "second": attention.second,
        "columns": np.array([[-1 if at is None else at for at in column] for column in columns]),
        "tokens_first": np.array(attention.compared.first.tokens),
        "tokens_second": np.array(attention.compared.second.tokens),
    }


ATTENTION = Picture(
    name="minimal-pair-attention",
    figure=_difference_map,
    table=_difference_arrays,
    how=(
        "Blue: the row's token attends more to the column's in the second version; orange: less. "
        "Rows and columns of a token that one version lacks are empty; the other rows then need "
        "not sum to zero. Changed tokens are bold."
    ),
    code=COMPARE_CODE
    + """
one, two = aligned_attention(trace, second, pair.columns, {layer}, {head})
difference = two - one                                  # [N, N]
""",
)
HEADS = Picture(
    name="minimal-pair-heads",
    figure=attention_grid,
    table=divergence_table,
    how=(
        "How differently each head attends in the two versions: Jensen-Shannon divergence of its "
        "rows; 0 means the same, 1 bit nothing in common. In layer 0 only the queries and keys of "
        "changed and moved tokens differ; in later layers everything may."
    ),
    code=COMPARE_CODE,
)


def show_attention(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw the signed difference of a head, or of a layer's mean."""
    num_layers, num_heads = compared.pair.attention_change.shape
    LAYER.key(default=num_layers - 1, options=list(range(num_layers)))
    HEAD.key(options=[MEAN, *range(num_heads)])
    layer, head = LAYER.value, None if HEAD.value == MEAN else HEAD.value
    columns = compared.pair.columns
    both = aligned_attention(compared.first, compared.second, columns, layer, head)
    attention = Attention(compared, both[0].numpy(), both[1].numpy())
    moved = np.abs(np.nan_to_num(attention.second - attention.first))
    drawn = drawn_columns(compared.pair, moved.sum(0) + moved.sum(1))
    ATTENTION.show(
        page,
        attention,
        drawn={"drawn": drawn, "is_dark": page.is_dark},
        with_caption=False,
        texts=compared.texts,
        layer=layer,
        head=head,
    )
    _choose_head(num_layers, num_heads, len(columns))
    note_left_out(drawn, compared.pair)
    ATTENTION.caption()


def show_heads(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw how much each head differs, and offer those that differ most."""
    st.markdown("**Which heads differ most**")
    HEADS.show(page, compared.pair.attention_change, with_caption=False, texts=compared.texts)
    _offer_heads(compared.pair)
    HEADS.caption()


def _choose_head(num_layers: int, num_heads: int, num_columns: int) -> None:
    """Draw the choice of a layer and of a head, or the mean of its heads, and of all tokens."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox("Layer", range(num_layers), key=LAYER.name, width=110)
    row.selectbox(
        "Head",
        [MEAN, *range(num_heads)],
        format_func=lambda head: "mean of the layer" if head == MEAN else str(head),
        key=HEAD.name,
        width=180,
    )
    if num_columns > MOST_DRAWN:
        row.toggle("All tokens", key=ALL_TOKENS.key())


def _offer_heads(pair: MinimalPair) -> None:
    """Draw the heads that differ most as buttons that open them."""
    row = st.container(horizontal=True, gap="small")
    for layer, head in most_changed(pair.attention_change, MOST_CHANGED):
        label = f"{layer}.{head}: {pair.attention_change[layer, head]:.2g} bits"
        row.button(label, key=f"pair_{layer}_{head}", on_click=_open_head, args=(layer, head))


def _open_head(layer: int, head: int) -> None:
    LAYER.put(layer)
    HEAD.put(head)


def _strips(compared: ComparedRuns, *, drawn: list[int]) -> Figure:
    """Draw a strip for each layer: how much the vector of each column turned."""
    change = compared.pair.hidden_change[:, drawn]
    return layer_map(
        change,
        theme.from_zero(max(1e-3, float(np.nanmax(change, initial=0.0)))),
        "%{z:.4f}",
        compared.names(drawn),
        compared.changed(drawn),
        y_title="layer (0: embeddings)",
        letters=11,
        row_height=28,
        space=76,
        ygap=3,
        colorbar=theme.bar_above("1 − cosine"),
    )


def _table(compared: ComparedRuns) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and column; empty where a token is missing."""
    change = compared.pair.hidden_change
    return cell_table({"layer": range(len(change))}, compared.columns(), one_minus_cosine=change)


VECTORS = Picture(
    name="minimal-pair-vectors",
    figure=_strips,
    table=_table,
    how=(
        "How much each token's vector differs after each layer, 1 − cosine: layer 0 is the "
        "embeddings, so only changed and moved tokens differ there. Follow a column down to see "
        "how far the change spreads, and which tokens take it up."
    ),
    code=COMPARE_CODE,
)


def show_vectors(page: frame.Page, compared: ComparedRuns) -> None:
    """Draw how much the vector of each token differs after each layer."""
    drawn = drawn_columns(compared.pair, np.nan_to_num(compared.pair.hidden_change).max(0))
    VECTORS.show(page, compared, drawn={"drawn": drawn}, with_caption=False, texts=compared.texts)
    note_left_out(drawn, compared.pair)
    VECTORS.caption()
