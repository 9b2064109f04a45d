"""How tokens mix: where a token's information comes from, by measures beyond the raw weights."""

import streamlit as st

from app.mixing import PAGE
from app.mixing import controls as sections
from app.mixing.measures import Found, Texts
from app.shell import frame, state, texts_lookup


@st.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    with frame.guard():
        where = Texts(page.bert_key, page.text_a, page.text_b)
        choice = sections.kept_choice(page)
        state.keep("mix_others", False)
        state.keep("mix_slow", False)
        views = list(sections.VIEWS)
        view = st.segmented_control(
            "View",
            views,
            format_func=sections.VIEWS.get,
            key=state.keep("mix_view", views[0], options=views),
            label_visibility="collapsed",
            required=True,
        )
        if view == "token":
            sections.choose_token(page, choice)

        def below(found: Found) -> None:
            sections.draw_controls(page)
            sections.offer_slow(page, where, choice, view)
            sections.show_notes(page, found, choice)
            frame.how_to_read(f"mixing.{view}")
            with st.expander("What each measure is, and what it does not see"):
                st.markdown(texts_lookup.TEXTS["mixing.measures"])

        found = sections.show_picture(page, where, choice, view, below)
        sections.show_charts(page, where, choice, found)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    show(page)
