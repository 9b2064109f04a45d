"""A learner's finding: what a picture shows, in two sentences, for the class and as a file."""

from collections.abc import Callable
from functools import partial
from urllib.parse import urljoin

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ..access.class_store import MAX_NAME, MAX_SENTENCE, Finding, clean_name, store
from ..access.learners import learner
from ..navigation import PAGES
from . import frame, state, turns
from .picture_files import Origin

Report = tuple[Origin, Callable[[Origin], bytes]]
"""What a picture shows, and what makes its HTML file."""
_HELP = "Hand this view in to your class, with two sentences on what it shows."
_KEYS = ("finding_numbers", "finding_first", "finding_second")
_BOXES = ("Numbers, with their interval", "What do you see?", "What does it say, or not say?")


def name_box(label: str, key: str) -> str:
    """Draw a box of the learner's name, which the class keeps; return the name.

    What is typed stays in the box, and a sentence says so, if it cannot be kept.
    """
    kept, shown = store(), f"{key}_shown"
    assert kept is not None, "drawn only in a class"
    turns.give_back()  # it may wait for others to write
    before = st.session_state.get(shown, "")
    with frame.guard():
        before = kept.name_of(learner())
    if st.session_state.get(shown) != before:  # typed in another box, or in another tab
        st.session_state[key] = st.session_state[shown] = before
    typed: str = st.text_input(label, key=key, max_chars=MAX_NAME)
    if clean_name(typed) != before:
        with frame.guard():
            kept.put_name(learner(), typed)
            st.session_state[shown] = kept.name_of(learner())
    return clean_name(typed)


def offer(row: DeltaGenerator, name: str, report: Report) -> None:
    """Draw a button that opens the form; draws nothing without a class.

    Args:
        name: Of the picture.
    """
    if store() is not None and row.button(
        "Hand in",
        key=f"hand_in_{name}",
        type="tertiary",
        icon=":material/assignment_turned_in:",
        help=_HELP,
    ):
        _show(name, report, state.link(_page_name(report[0].page)))


def _page_name(title: str) -> str:
    return next((page.name for page in PAGES.values() if page.title == title), "")


@st.dialog("Hand in a finding", width="medium")
def _show(name: str, report: Report, link: str) -> None:
    """Draw the form: it checks and keeps what is typed, and offers it as a file."""
    origin, make = report
    with frame.guard():
        kept = store()
        assert kept is not None, "offer looks for it"
        who = name_box("Your name (optional)", "finding_name")
        numbers, first, second = (
            st.text_input(label, key=f"{key}_{name}", max_chars=MAX_SENTENCE)
            for label, key in zip(_BOXES, _KEYS, strict=True)
        )
        finding = Finding(who, origin.page, link, numbers.strip(), first.strip(), second.strip())
        row = st.container(horizontal=True)
        if row.button("Hand in", key="finding_hand_in", type="primary"):
            with frame.guard():  # the form stays as it is if it cannot be kept
                kept.hand_in(learner(), finding)
                st.success(
                    "Your class has it: your sentences, the numbers and the link of this view."
                )
        row.download_button(
            "Download as a file",
            partial(_file, origin, make, finding, urljoin(st.context.url or "", link)),
            file_name=f"finding-{name}.html",
            mime="text/html",
            key="finding_file",
            on_click="ignore",
            icon=":material/download:",
        )
        st.caption(
            "The file has the picture, its numbers, the text, the choices and your sentences, and "
            "opens without a network. Your teacher sees your sentences, and your name if you type "
            "one."
        )


def _file(origin: Origin, make: Callable[[Origin], bytes], finding: Finding, link: str) -> bytes:
    said = {
        "Finding": f"{finding.first}\n{finding.second}".strip(),
        "Numbers": finding.numbers,
        "By": finding.name,
        "Link of the view": link,
    }
    typed = {what: text for what, text in said.items() if text}
    return make(origin._replace(texts=typed | origin.texts))
