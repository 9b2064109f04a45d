"""How much each token's vector differs between the versions, layer by layer."""

import numpy as np
import pandas as pd
import streamlit as st

from ..plots import Figure, cell_table, theme
from ..shell import Picture, frame
from .compared import COMPARE_CODE, Compared, drawn_columns, note_left_out
from .figures import layer_map


def _strips(compared: Compared, *, drawn: list[int]) -> Figure:
    """Draw a strip for each layer: how much the vector of each column turned."""
    change = compared.pair.hidden_change[:, drawn]
    return layer_map(
        change,
        compared.names(drawn),
        compared.changed(drawn),
        y_title="layer (0: embeddings)",
        letters=11,
        row_height=28,
        space=76,
        ygap=3,
        zmin=0,
        zmax=max(1e-3, float(np.nanmax(change, initial=0.0))),
        colorscale=theme.SEQUENTIAL,
        hoverongaps=False,
        hovertemplate="<b>%{customdata}</b>, layer %{y}: %{z:.4f}<extra></extra>",
        colorbar=theme.bar_above("1 − cosine"),
    )


def _table(compared: Compared) -> pd.DataFrame:
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


def show_vectors(page: frame.Page, compared: Compared) -> None:
    """Draw how much the vector of each token differs after each layer."""
    st.header("How each token's vector differs", anchor=False)
    drawn = drawn_columns(compared.pair, np.nan_to_num(compared.pair.hidden_change).max(0))
    VECTORS.show(page, compared, drawn={"drawn": drawn}, with_caption=False, texts=compared.texts)
    note_left_out(drawn, compared.pair)
    VECTORS.caption()
