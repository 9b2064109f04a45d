"""How much each token's vector differs between the versions, layer by layer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ..plots.figure import Figure
from ..shell import frame
from ..shell.picture import Picture
from .compared import COMPARE_CODE, Compared, drawn_columns, note_left_out
from .figures import strip_table, vector_strips


def _strips(compared: Compared, *, drawn: list[int]) -> Figure:
    change = compared.pair.hidden_change[:, drawn]
    return vector_strips(change, compared.names(drawn), compared.changed(drawn))


def _table(compared: Compared) -> pd.DataFrame:
    return strip_table(compared.pair, compared.first, compared.second)


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
