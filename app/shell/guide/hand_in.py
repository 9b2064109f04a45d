"""A learner's finding: what a picture shows, in a sentence, with the link of the view."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...navigation import PAGES
from ...server.class_store import MAX_FINDING, store
from .. import frame, state
from . import in_class


def offer(row: DeltaGenerator, name: str) -> None:
    """Draw a button that opens the form; draws nothing without a class.

    Args:
        name: Of the picture.
    """
    if store() is not None and row.button(
        "Hand in",
        key=f"hand_in_{name}",
        type="tertiary",
        icon=":material/assignment_turned_in:",
        help="Hand this view in to your class, with a sentence on what it shows.",
    ):
        title = frame.shown().title
        page = next((page.name for page in PAGES.values() if page.title == title), "")
        _show(name, title, state.link(page))


@st.dialog("Hand in a finding", width="medium")
def _show(name: str, title: str, link: str) -> None:
    """Draw the form; it stays as it is if what is typed cannot be kept."""
    with frame.guard():
        if in_class.door():
            return
        text = st.text_area("What do you see?", key=f"finding_{name}", max_chars=MAX_FINDING)
        if st.button("Hand in", key="finding_hand_in", type="primary"):
            in_class.hand_in(title, link, text)
        if state.too_long_for_url():
            st.caption("The text that the model reads is too long for the link, and not in it.")
        st.caption("Your teacher sees what you write, and your name if you typed one.")
