"""Tokens & embeddings: the input of BERT, taken apart."""

import pandas as pd
import streamlit as st

from bertcore import Trace
from bertcore.analysis.space.embeddings import token_columns

from ..shell import frame
from ..shell.links import TOKEN
from ..shell.links import TOKENS_VIEW as VIEW
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..token_strip.token_strip import token_strip
from . import PAGE
from .effects import show_leave_one_out, show_norm
from .embedding_sum import show_sum
from .growth import show_growth
from .nearest import show_nearest
from .positions import show_positions
from .word_steps import PIECE_MARKS, show_steps

VIEWS = {
    "Three embeddings": show_sum,
    "LayerNorm": show_norm,
    "Leave one out": show_leave_one_out,
    "Position table": show_positions,
    "Nearest words": show_nearest,
    "A vocabulary grows": show_growth,
}


def _token_table(trace: Trace) -> pd.DataFrame:
    return pd.DataFrame(token_columns(trace))


STRIP = Picture(
    name="tokens",
    table=_token_table,
    how=(
        "Choose a token with the mouse, or with the arrow keys and Enter: the pictures below "
        "follow it. {marks}"
    ),
    code="""
import pandas as pd
from bertcore.analysis.space.embeddings import token_columns

pd.DataFrame(token_columns(trace))
""",
)


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw everything that follows the chosen token; runs alone when another is chosen."""
    trace = page.trace
    TOKEN.key(low=0, high=trace.num_tokens - 1)
    index = TOKEN.value
    with frame.guard():
        token_strip(trace, key="strip", selected=index, on_pick=TOKEN.put)
        with st.container(horizontal=True, vertical_alignment="center", key="strip_row"):
            marks = PIECE_MARKS.get(page.bert.tokenizer.kind, "")
            st.caption(STRIP.reading(marks=marks))
            STRIP.offer(page, trace, width="content", with_caption=False, marks=marks)
        show_steps(page, index)
    view = one_of("Picture", list(VIEWS), VIEW)
    with frame.guard():
        VIEWS[view](page, index)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
