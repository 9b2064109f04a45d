"""How tokens mix: where a token's information comes from, by measures beyond the raw weights."""

import streamlit as st

from ..shell import frame
from ..shell.cache import Texts
from ..shell.one_of import one_of
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
from .explained import MEASURES_EXPLAINED
from .measures import MixingMaps
from .views import picture_of, show_picture


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
    if measures.has_separator_chart(page.bert):
        show_separator(page, where)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
