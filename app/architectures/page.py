"""BERT, GPT, ELMo: who sees whom, what leaks, what they write, positions, and a table."""

import streamlit as st

from bertcore.papers import read_papers

from ..plots import plain
from ..plots.source_tables import contrasts
from ..shell import Field, frame, one_of
from ..token_strip.token_strip import token_strip
from . import PAGE
from .leak import show_leak
from .positions import show_positions
from .sights import PLACE, Readers, chosen_place, name_of, readers_of, show_sights
from .writing import show_writing

SEES, LEAKS, WRITES, POSITIONS, TABLE = VIEWS = (
    "Who sees whom",
    "Why words are hidden",
    "Let it write",
    "Positions",
    "Side by side",
)
VIEW = Field("architectures_view", SEES, VIEWS)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    view = one_of("View", VIEWS, VIEW)
    with frame.guard():
        if view == TABLE:
            with st.container(key="contrasts"):  # as wide as its columns need
                st.markdown(contrasts(read_papers()))
        elif view == POSITIONS:
            show_positions(page)
        else:
            _show_readers(page, view)


def _show_readers(page: frame.Page, view: str) -> None:
    """Draw a view of both checkpoints."""
    readers = readers_of(page)
    _note_others(page, readers)
    if view == WRITES:
        show_writing(page, readers)
        return
    place = chosen_place(readers)
    if place is None:  # the frame reports that no token is left
        return
    _strip(readers, place)
    if view == LEAKS:
        show_leak(page, readers, place)
    else:
        show_sights(page, readers, place)


def _strip(readers: Readers, place: int) -> None:
    """Draw the tokens, one of which is guessed."""

    def pick(token: int) -> None:
        if readers.trace.text_ids[token] >= 0:
            PLACE.put(token)

    token_strip(readers.trace, key="architecture_strip", selected=place, on_pick=pick)


def _note_others(page: frame.Page, readers: Readers) -> None:
    """State which checkpoints stand in for the chosen one."""
    if page.bert_key not in (readers.both, readers.left):
        st.info(
            f"{plain(name_of(page.bert_key))} predicts neither masked nor next tokens, so the "
            "shipped checkpoints are shown."
        )
