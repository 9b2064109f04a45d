"""What a lesson leaves of its page: the figure of its step, and covers on what would answer it."""

from collections.abc import Collection
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from ...view import View

_COVERS = "_lesson_covers"


class Covers(NamedTuple):
    """The covered views of a page."""

    views: frozenset[str]
    told: str
    """What stands on a cover, for screen readers too."""
    is_whole: bool
    """Whether all of the page is covered but the boxes of its text."""


def begin(covered: Collection[str] | None, told: str = "", *, is_whole: bool = False) -> None:
    """Choose what this run covers.

    Args:
        covered: Names of views; None outside of a lesson.
        told: Text of a cover.
        is_whole: Whether the page ends with one cover below the boxes of its text.
    """
    covers = None if covered is None else Covers(frozenset(covered), told, is_whole)
    st.session_state[_COVERS] = covers


def is_page_told() -> bool:
    """Return whether the whole page is covered, and draw its cover."""
    covers: Covers | None = st.session_state.get(_COVERS)
    if covers is None or not covers.is_whole:
        return False
    draw(covers.told)
    return True


def in_lesson() -> bool:
    """Return whether the page is the figure of a lesson: without files, menus, closed headings."""
    return st.session_state.get(_COVERS) is not None


def is_told(view: View[Any]) -> bool:
    """Return whether a view is covered, and draw its cover in its place."""
    covers: Covers | None = st.session_state.get(_COVERS)
    if covers is None or view.name not in covers.views:
        return False
    draw(covers.told)
    return True


def draw(told: str) -> None:
    """Draw a cover."""
    st.html(f'<div class="cover"><b aria-hidden="true">?</b><span>{escape(told)}</span></div>')
