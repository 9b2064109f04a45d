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
        "tokens of the other{view}. The rest to 100% stays in the same sentence or goes to "
        "\\[CLS\\] and \\[SEP\\], which a head may attend to when it finds nothing else (Clark et "
        "al. 2019)."
    ),
    code="""
from bertcore.analysis.words.next_sentence import attention_mass, segment_ids

ids = segment_ids(trace, {segments!r})
mass = attention_mass(bert.trace(trace.text_a, trace.text_b, segment_ids=ids))
mass.between("A", "B")                      # [L, H]
""",
)


LINES = (
    ": the mean of the heads, and the range from the lowest to the highest head as a band. The "
    "dotted line is {even}"
)


def reading(*, every_head: bool, is_causal: bool) -> str:
    """Return what the caption says of a view, between "the tokens of the other" and a full stop."""
    even = (
        "the other sentence's fraction of the tokens"
        if is_causal
        else "what uniform attention would give"
    )
    before = ". A is read before B, so A to B is 0" if is_causal else ""
    return ("" if every_head else LINES.format(even=even)) + before


def show_attention(page: frame.Page, segments: str) -> None:
    """Draw the attention between the sentences, with the chosen segment ids."""
    st.header("How much the sentences attend to each other", anchor=False)
    ids = segment_ids(page.trace, segments)
    trace = cache.trace(page.bert_key, page.text_a, page.text_b, segment_ids=ids)
    mass = attention_mass(trace)
    view = one_of("View", VIEWS, VIEW)
    drawn = {"every_head": view == EVERY_HEAD}
    how = reading(**drawn, is_causal=page.bert.config.family.is_causal)
    MASS.show(page, mass, drawn=drawn, segments=segments, view=how)
