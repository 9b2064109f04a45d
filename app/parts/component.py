"""A browser component: its bundle, registered at its first use, its events, and its HTML part."""

import base64
import json
import logging
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import methodcaller
from typing import Any

from .bundle import Bundle, read_bundle
from .html_file.document import ScriptedPicture

log = logging.getLogger("bertscope.app")

Listener = Callable[[Any], None]
LONG = 2000
"""Bytes from which on data is sent deflated."""


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
        import streamlit as st

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


@dataclass(frozen=True, slots=True)
class Component:
    """An entry module of the browser, drawn by Streamlit.

    Its bundle is read, and the component registered, when it is first needed.
    """

    name: str
    """Name in Streamlit, "bertscope_" and a word; unique in the app."""
    path: str
    """Of the entry module without its suffix; `__file__` of a Python module of the same name."""

    @property
    def bundle(self) -> Bundle:
        """Script and styles, for HTML files too."""
        return _bundle(self.path)

    def __call__(self, data: Any, *, key: str, **listeners: Listener) -> Any:
        """Draw it and return its state.

        Args:
            data: What its module reads: JSON, or bytes of `canvas.shared.transport`.
            key: Unique on the page.
            listeners: By the name of a value that it reports; called with each new one before the
                next run; see `hear`.
        """
        changes = {
            f"on_{name}_change": hear(key, methodcaller("get", name), listener)
            for name, listener in listeners.items()
        }
        return _registered(self)(key=key, data=sent(data), **changes)

    def part(self, *messages: bytes, note: str = "") -> ScriptedPicture:
        """Return it as a part of an HTML file, for a module that exports `standAlone`.

        Args:
            messages: What it draws, of `canvas.shared.transport`; the first one at first.
            note: What the file leaves out, in a sentence.
        """
        data = [base64.b64encode(message).decode() for message in messages]
        style = json.dumps(self.bundle.style)
        script = f"{self.bundle.script}bundle.standAlone(%PLACE%, {style}, %DATA%);\n"
        return ScriptedPicture(script=script, data=data, note=note)


def sent(data: Any) -> Any:
    """Return data as it is sent: long data deflated, for `mounted.ts`, after a byte that says what
    it is; no message of `canvas.shared.transport` begins with 1 or 2.
    """
    is_bytes = isinstance(data, bytes)
    whole = data if is_bytes else json.dumps(data, separators=(",", ":")).encode()
    return data if len(whole) < LONG else bytes([1 + is_bytes]) + zlib.compress(whole, 1)


@cache
def _bundle(path: str) -> Bundle:
    return read_bundle(path)


@cache
def _registered(component: Component) -> Callable[..., Any]:
    import streamlit as st

    bundle = component.bundle
    return st.components.v2.component(component.name, js=bundle.module)
