"""Values that widgets report: a client may send any, of any kind, for any widget."""

from __future__ import annotations

import logging
from typing import Any

import streamlit as st
from streamlit.runtime.state.session_state import Serialized, WStates

log = logging.getLogger("bertscope.app")


def guard_widgets() -> None:
    """Take the usual value of a widget in place of one that it cannot have, for all widgets.

    Streamlit reads values when a page draws the widget, and before it if the widget has a callback,
    where no guard of ours is around it; it trusts that they are of the widget's kind.
    """
    read = WStates.__getitem__

    def read_guarded(states: WStates, name: str) -> Any:
        state, widget = states.states.get(name), states.widget_metadata.get(name)
        if not isinstance(state, Serialized) or widget is None:
            return read(states, name)
        kind = state.value.WhichOneof("value")
        try:
            if None in (kind, widget.value_type) or kind == widget.value_type:
                return read(states, name)
        except Exception as error:  # each widget's own reading fails in its own way
            log.debug("no value of its widget: %s", type(error).__name__)
        log.warning("ignored: a value that its widget cannot have")
        states.set_from_value(name, widget.deserializer(None))
        return read(states, name)

    WStates.__getitem__ = read_guarded  # type: ignore[method-assign]


def show_error(error: Exception) -> bool:
    """Show what no guard of a page caught, after Streamlit has logged it, as one sentence."""
    from .frame import UNEXPECTED  # which imports torch: not before the server listens

    st.error(UNEXPECTED.format(kind=type(error).__name__))
    return True
