"""How much the two sentences attend to each other."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.next_sentence import attention_mass, segment_ids

from ..shell import cache, frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .attention_figures import mass_arrays, mass_figure

BY_LAYER, EVERY_HEAD = "By layer", "Every head"
VIEWS = (BY_LAYER, EVERY_HEAD)
VIEW = Field("mass", BY_LAYER, VIEWS)

MASS = Picture(
    name="attention-mass",
    figure=mass_figure,
    table=mass_arrays,
    how=(
        "The fraction of the attention given by the tokens of one sentence that goes to the "
        "tokens of the other: the mean of the heads, and the range from the lowest to the highest "
        "head as a band. The dotted line is what uniform attention would give. The rest to 100% "
        "stays in the same sentence or goes to \\[CLS\\] and \\[SEP\\], which a head may attend "
        "to when it finds nothing else (Clark et al. 2019)."
    ),
    code="""
from bertcore.analysis.words.next_sentence import attention_mass, segment_ids

ids = segment_ids(trace, {segments!r})
mass = attention_mass(bert.trace(trace.text_a, trace.text_b, segment_ids=ids))
mass.between("A", "B")                      # [L, H]
""",
)


def show_attention(page: frame.Page, segments: str) -> None:
    """Draw the attention between the sentences, with the chosen segment ids."""
    st.header("How much the sentences attend to each other", anchor=False)
    ids = segment_ids(page.trace, segments)
    trace = cache.trace(page.bert_key, page.text_a, page.text_b, segment_ids=ids)
    mass = attention_mass(trace)
    view = one_of("View", VIEWS, VIEW)
    MASS.show(page, mass, drawn={"every_head": view == EVERY_HEAD}, segments=segments)
