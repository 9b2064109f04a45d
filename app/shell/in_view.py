"""Which sections of a page are in the window: an edit computes those alone.

While a visitor writes, the browser reports the sections that are out of the window, and later when
one comes near. A client that reports nothing gets the whole page.
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
    reported: dict[str, bool] = field(default_factory=dict)
    """Whether a section is in the window or near it, by its key."""


def is_in_view(section: str) -> bool:
    """Return whether a section is to be computed: all of a page that was just opened are."""
    sections: _Sections | None = st.session_state.get(_SECTIONS)
    if sections is None or sections.page != page_hash():
        return True
    return sections.reported.get(section, True)


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
            sections = st.session_state[_SECTIONS] = _Sections(page)
        sections.reported[section] = is_near is True

    kind = "leaving" if is_shown else "coming"
    data = {"section": section, "isShown": is_shown}
    COMPONENT(data, key=f"{kind}_{section}", near=report)
