"""How tokens mix: where a token's information comes from, by measures beyond the raw weights."""

import streamlit as st

from ..plots.source_tables import markdown_table
from ..shell import Texts, frame, one_of
from . import PAGE, measures
from .charts import show_agreement, show_separator
from .choices import (
    VIEW,
    VIEWS,
    choose_token,
    draw_controls,
    kept_choice,
    offer_slow,
    show_notes,
)
from .measures import MixingMaps
from .views import picture_of, show_picture

_ROWS = (
    (
        "Attention weights",
        "α = softmax(q·k / √K), mean of the heads",
        "how long the vector is that a weight multiplies",
    ),
    (
        "Norm-weighted",
        "‖Σ α f(x)‖ over the heads, with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020)",
        "what the token keeps of itself",
    ),
    (
        "… with residual",
        "the same with the residual connection, and LayerNorm if one follows it (Kobayashi et al. "
        "2021)",
        "the feed-forward block",
    ),
    (
        "Value zeroing",
        "1 − cos(y, y with the other token's value 0), y the layer's output (Mohebbi et al. 2023)",
        "later layers; two tokens that stand in for each other",
    ),
    (
        "Gradient × attention",
        "size of α · ∂ output / ∂α, mean of the heads (as in Barkan et al. 2021, with both signs)",
        "large changes: it is a slope at one point, for one output",
    ),
    (
        "Rollout",
        "product of ½ I + ½ A over the layers (Abnar and Zuidema 2020)",
        "values and feed-forward; it treats all heads as equally strong",
    ),
    (
        "Flow",
        "maximum flow with the same ½ I + ½ A as capacities (Abnar and Zuidema 2020)",
        "the same; the narrowest place decides, so through many layers all rows become alike",
    ),
    (
        "Value zeroing rolled out",
        "product of the layers' value zeroing (Mohebbi et al. 2023)",
        "what a token keeps through the residual connection alone; that effects need not multiply",
    ),
)
_HEAD = ("Measure", "Formula", "What it does not see")
MEASURES_EXPLAINED = markdown_table(_HEAD, _ROWS) + (
    "\n\nAttention is not explanation: a token may be read and change nothing, and it may matter "
    "in a way that no measure here follows. To test a cause, change the text or switch heads off."
)
"""A table in Markdown."""


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    where = Texts(page.bert_key, page.text_a, page.text_b)
    choice = kept_choice(page)
    view = one_of("View", VIEWS, VIEW)
    if view == "token":
        choose_token(page, choice)

    def below(mixing: MixingMaps) -> None:
        draw_controls(page)
        offer_slow(page, where, choice, view)
        show_notes(page, mixing, choice, view)
        picture_of(view).caption()
        with st.expander("What each measure is, and what it does not see"):
            st.markdown(MEASURES_EXPLAINED)

    mixing = show_picture(page, where, choice, view, below)
    show_agreement(page, choice, view, mixing)
    # A [SEP] after all other tokens is none to rest on.
    if "norms" in measures.measures(page.bert) and not page.bert.config.family.is_causal:
        show_separator(page, where)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
