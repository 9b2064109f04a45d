"""Events that a component reports, read in the same way for all views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st


def hear(key: str, name: str, listener: Callable[[Any], None]) -> Callable[[], None]:
    """Return a function that hands a component's new value to `listener`, unless there is none.

    Args:
        key: Of the component in the session.
        name: Of the value among those that it reports.
        listener: Called before the next run of the page.
    """

    def changed() -> None:
        value = st.session_state[key].get(name)
        if value is not None:
            listener(value)

    return changed


def last_revision(key: str) -> int:
    """Return the number of the selection that a view reported last, 0 before the first."""
    selection = (st.session_state.get(key) or {}).get("selection") or {}
    revision: int = selection.get("revision", 0)
    return revision
