"""What a client sends over its websocket: any message, and any value for any widget."""

from __future__ import annotations

import logging
from typing import Any

import streamlit as st
from streamlit.elements.widgets.file_uploader import FileUploaderSerde
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.state.session_state import Serialized, WStates

log = logging.getLogger("bertscope.app")


FOR_THE_OWNER = ("clear_cache", "load_git_info")
"""Messages that work on the whole server: they clear all visitors' caches and name its files."""


OTHER_TYPE = (
    "The file is of a type that this box does not take: its name must end in one of {types}. Save "
    "it as one of them."
)


def guard_messages(*, is_closed: bool) -> None:
    """Ignore what visitors of a closed server may not send, and what no widget can have."""
    _guard_widgets()
    if not is_closed:
        return
    handle = AppSession.handle_backmsg

    def handle_guarded(session: AppSession, message: BackMsg) -> None:
        if message.WhichOneof("type") in FOR_THE_OWNER:
            log.warning("ignored: a message that visitors may not send")
        else:
            handle(session, message)

    AppSession.handle_backmsg = handle_guarded  # type: ignore[method-assign, assignment]


def _guard_widgets() -> None:
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
            # Browsers send whole numbers of a number box as integers.
            are_numbers = {kind, widget.value_type} <= {"int_value", "double_value"}
            if None in (kind, widget.value_type) or kind == widget.value_type or are_numbers:
                return read(states, name)
        except Exception as error:  # each widget's own reading fails in its own way
            log.debug("no value of its widget: %s", type(error).__name__)
            serde = getattr(widget.deserializer, "__self__", None)
            if kind == "file_uploader_state_value" and isinstance(serde, FileUploaderSerde):
                st.error(OTHER_TYPE.format(types=", ".join(serde.allowed_types or ())))
        log.warning("ignored: a value that its widget cannot have")
        states.set_from_value(name, widget.deserializer(None))
        return read(states, name)

    WStates.__getitem__ = read_guarded  # type: ignore[method-assign]


def show_error(error: Exception) -> bool:
    """Show what no guard of a page caught, after Streamlit has logged it, as one sentence."""
    from .frame import UNEXPECTED  # which imports torch: not before the server listens

    st.error(UNEXPECTED.format(kind=type(error).__name__))
    return True
