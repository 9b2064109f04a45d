"""The page Probes: task and sentences, the visitor's sentence, scores by layer."""

import streamlit as st

from ..plots import plain
from ..second_checkpoint import NOBODY, UNTRAINED, choices, choose_second, open_second
from ..shell import Field, frame
from . import PAGE, by_layer, live, source
from .source import TaskSentences
from .work import Probed, probed

SECOND = Field("probe_with", NOBODY)  # source of the second checkpoint
SEEN = (
    "The training of `pos` was monitored on these sentences: its scores are not those of new text."
)
_TAKEN = "are taken, at random."  # end of a note that says what the visitor chose
TELLS = (
    "A probe shows what can be read from the vectors, not what the network uses. To see that, "
    "change them on **What if?** or **Minimal pair**."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    row = st.container(horizontal=True, vertical_alignment="bottom", key="probe_choice")
    with frame.guard(stop=True):
        chosen = source.choose(row)
    with row:
        choose_second(
            "Compare with", SECOND, [one for one in choices() if one != UNTRAINED], width=200
        )
    opened = open_second(page, SECOND)
    if chosen is None:
        frame.end_page()
    with frame.guard(stop=True), source.dropping_unreadable(chosen.task):
        # Requested one after the other, so that both are queued.
        found = [probed(side, chosen, place) for place, side in enumerate(opened)]
    ready = [one for one in found if one is not None]
    if len(ready) < len(opened):
        frame.end_page()
    _describe(chosen, ready)
    live.show(page, chosen, ready)
    with frame.guard():
        by_layer.show(page, chosen, ready)
    st.caption(TELLS)


def _describe(chosen: TaskSentences, found: list[Probed]) -> None:
    """State how many sentences and words there are, and what was left out."""
    report = found[0].report
    sentences, words = report.num_sentences, report.num_words
    notes = [note for one in found for note in one.report.notes if not note.endswith(_TAKEN)]
    st.caption(
        f"{sum(sentences.values()):,} sentences: {sentences['train']:,} for training, "
        f"{sentences['dev']:,} for selection, {sentences['test']:,} for testing ({words['test']:,} "
        f"words). {plain(' '.join(dict.fromkeys(notes)))}"
    )
    if chosen.key == source.OWN and any(one.side.key.source == "pos" for one in found):
        st.caption(SEEN)
