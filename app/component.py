"""A browser component: its bundle, registered at its first use, its events, and its HTML part."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import methodcaller
from typing import Any

import streamlit as st

from .bundle import Bundle, read_bundle
from .html_file.document import Part
from .listener import Listener, hear


@dataclass(frozen=True, slots=True)
class Component:
    """The entry module beside a Python module of the same name, drawn by Streamlit.

    Its bundle is read, and the component registered, when it is first needed.
    """

    name: str
    """Name in Streamlit, "bertscope_" and a word; unique in the app."""
    path: str
    """Path of the Python module: its `__file__`."""

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
        return _registered(self)(key=key, data=data, **changes)

    def part(self, *messages: bytes, note: str = "") -> Part:
        """Return it as a part of an HTML file, for a module that exports `standAlone`.

        Args:
            messages: What it draws, of `canvas.shared.transport`; the first one at first.
            note: What the file leaves out, in a sentence.
        """
        data = [base64.b64encode(message).decode() for message in messages]
        style = json.dumps(self.bundle.style)
        script = f"{self.bundle.script}bundle.standAlone(%PLACE%, {style}, %DATA%);\n"
        return Part(script=script, data=data, note=note)


@cache
def _bundle(path: str) -> Bundle:
    return read_bundle(path)


@cache
def _registered(component: Component) -> Callable[..., Any]:
    bundle = component.bundle
    return st.components.v2.component(component.name, css=bundle.style or None, js=bundle.module)
