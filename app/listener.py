"""What a visitor does in a component, a figure or a table, for the view that listens to it."""

import logging
from collections.abc import Callable
from typing import Any

import streamlit as st

log = logging.getLogger("bertscope.app")

Listener = Callable[[Any], None]


def hear(key: str, read: Callable[[Any], Any], listener: Listener) -> Callable[[], None]:
    """Return the callback of a widget: it calls `listener` with what `read` finds in its state.

    Streamlit also calls back for a widget of a page that was left in the meantime, such as one that
    was clicked just before the link to another page; it has no state then, and nothing is called.
    A client may send anything, so a value that a listener cannot read (LookupError, TypeError,
    ValueError, AttributeError) is ignored.

    Args:
        read: Returns None if nothing was done.
    """

    def changed() -> None:
        state = st.session_state.get(key)
        try:
            value = None if state is None else read(state)
            if value is not None:
                listener(value)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            log.warning(
                "ignored: a value of %s that no view reports (%s)", key, type(error).__name__
            )

    return changed


def clicked_point(state: Any) -> Any:
    """Return the custom data of the point that was clicked in a figure, or None."""
    points = state["selection"]["points"]
    return (points[0].get("customdata") or None) if points else None


def clicked_row(state: Any) -> Any:
    """Return the number of the row that was clicked in a table, or None."""
    rows = state["selection"]["rows"]
    return rows[0] if rows else None
