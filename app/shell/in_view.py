"""Which sections of a page are in the window: an edit computes those alone.

A browser reports when a section leaves the window and when it comes near. A client that reports
nothing gets the whole page.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import streamlit as st

from ..component import Component
from ..streamlit_internals import page_hash
from . import state

COMPONENT = Component("bertscope_in_view", __file__)
_SECTIONS, _FIELDS = "_sections_in_view", "_fields_of_sections"


@dataclass(slots=True)
class _Sections:
    """What a browser reported of the page that it shows."""

    page: str
    unknown: bool
    """Whether a section of which nothing was reported counts as in the window: on the first page,
    before it is known that this browser reports."""
    reported: dict[str, bool] = field(default_factory=dict)


def is_in_view(section: str) -> bool:
    """Return whether a section is to be computed."""
    sections: _Sections | None = st.session_state.get(_SECTIONS)
    if sections is None:
        return True
    if sections.page != page_hash():  # of a browser that reports: this page is just opened
        sections = st.session_state[_SECTIONS] = _Sections(page_hash(), unknown=False)
    return sections.reported.get(section, sections.unknown)


@contextmanager
def drawing(section: str) -> Iterator[None]:
    """Note the fields that a section reads within the block."""
    before = state.used()
    try:
        yield
    finally:
        _fields(section).update(state.used() - before)


def _fields(section: str) -> set[str]:
    kept: dict[tuple[str, str], set[str]] = st.session_state.setdefault(_FIELDS, {})
    return kept.setdefault((page_hash(), section), set())


def watch(section: str, *, is_shown: bool) -> None:
    """Draw what reports, once, that a section has left the window or comes near.

    The fragment around it runs then.

    Args:
        section: Key of its container.
        is_shown: Whether it was computed; if not, a line holds its place, and its choices stay.
    """
    if not is_shown:
        state.use(_fields(section))
    page = page_hash()

    def report(is_near: bool) -> None:
        sections: _Sections | None = st.session_state.get(_SECTIONS)
        if sections is None or sections.page != page:
            unknown = sections is None
            sections = st.session_state[_SECTIONS] = _Sections(page, unknown=unknown)
        sections.reported[section] = is_near is True

    kind = "leaving" if is_shown else "coming"
    data = {"section": section, "isShown": is_shown}
    COMPONENT(data, key=f"{kind}_{section}", near=report)
