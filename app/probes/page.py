"""The page Probes: what is asked of which sentences, the visitor's sentence, scores by layer."""

from __future__ import annotations

import streamlit as st

from ..access.policy import policy
from ..compare.case import UNTRAINED, Side, choices, shown_name, shown_names, sides
from ..compare.choice import open_other
from ..plots.untrusted_text import plain
from ..shell import consent, frame, sidebar
from ..shell.state import Field
from . import PAGE, by_layer, live, source
from .source import Chosen
from .work import Probed, probed

NOBODY = ""
SECOND = Field("probe_with", NOBODY)
"""Source of the second checkpoint."""
SEEN = "These sentences watched the training of `pos`: its scores are not those of new text."
_TAKEN = "are taken, at random."
"""End of a note that says what the visitor chose."""
TELLS = (
    "A probe shows what can be read off the vectors, not what the network uses; for that, change "
    "them: **What if?**, **Minimal pair**."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    row = st.container(horizontal=True, vertical_alignment="bottom", key="probe_choice")
    with frame.guard(stop=True):
        chosen = source.choose(row)
    with row:
        _choose_second()
    opened = _open_both(page)
    if chosen is None:
        frame.end_page()
    with frame.guard(stop=True):
        # Asked for one after the other, so that both stand in line.
        found = [probed(side, chosen, place) for place, side in enumerate(opened)]
    ready = [one for one in found if one is not None]
    if len(ready) < len(opened):
        frame.end_page()
    _describe(chosen, ready)
    live.show(page, chosen, ready)
    with frame.guard():
        by_layer.show(page, chosen, ready)
    st.caption(TELLS)


def _describe(chosen: Chosen, found: list[Probed]) -> None:
    """Say how many sentences and words there are, and what was left out."""
    report = found[0].report
    sentences, words = report.num_sentences, report.num_words
    notes = [note for one in found for note in one.report.notes if not note.endswith(_TAKEN)]
    st.caption(
        f"{sum(sentences.values()):,} sentences: {sentences['train']:,} to learn from, "
        f"{sentences['dev']:,} to choose by, {sentences['test']:,} to test "
        f"({words['test']:,} words). {plain(' '.join(dict.fromkeys(notes)))}"
    )
    if chosen.key == source.OWN and any(one.side.key.source == "pos" for one in found):
        st.caption(SEEN)


def _choose_second() -> None:
    """Draw the choice of another checkpoint."""
    offered = [one for one in choices() if one != UNTRAINED]
    options = list(dict.fromkeys([NOBODY, *offered, SECOND.value]))
    names = shown_names([source for source in options if source != NOBODY])
    st.selectbox(
        "Beside it",
        options,
        key=SECOND.key(),
        accept_new_options=not policy().is_closed,
        format_func=lambda source: (
            "no other checkpoint" if source == NOBODY else names.get(source) or shown_name(source)
        ),
        on_change=lambda: consent.allow(SECOND.value),
        help=(
            f"{sidebar.how_to_choose()} Two moments of a run are its folders checkpoints/step-N."
        ),
        width=200,
    )


def _open_both(page: frame.Page) -> list[Side]:
    """Return the page's checkpoint, and the other if there is one, whose fetching may be drawn."""
    chosen = SECOND.value.strip()
    own, _ = sides(page, page.bert_key.source)
    if chosen in (NOBODY, page.bert_key.source):
        return [own]
    with frame.guard(stop=True):
        own, other = sides(page, chosen)
    open_other(other, _put_second)
    return [own, other]


def _put_second(source: str) -> None:
    consent.allow(source)
    SECOND.put(source)
