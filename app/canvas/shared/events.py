"""Events that a component reports, read in the same way for all views."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import streamlit as st

log = logging.getLogger("bertscope.app")


def hear(key: str, name: str, listener: Callable[[Any], None]) -> Callable[[], None]:
    """Return a function that hands a component's new value to `listener`, unless there is none.

    A value in a form that none of our views reports is ignored: a client may send anything.

    Args:
        key: Of the component in the session.
        name: Of the value among those that it reports.
        listener: Called before the next run of the page.
    """

    def changed() -> None:
        value = st.session_state[key].get(name)
        if value is None:
            return
        try:
            listener(value)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            log.warning(
                "ignored: a value of %s that no view reports (%s)", key, type(error).__name__
            )

    return changed


def last_revision(key: str) -> int:
    """Return the number of the selection that a view reported last, 0 before the first."""
    selection = (st.session_state.get(key) or {}).get("selection")
    revision = selection.get("revision") if isinstance(selection, dict) else None
    return revision if isinstance(revision, int) else 0
