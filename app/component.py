"""A component of ours in the browser: its bundle, registered with Streamlit at its first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from .bundle import Bundle, read_bundle


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

    def __call__(self, data: Any, *, key: str, **heard: Callable[[], None]) -> Any:
        """Draw it and return its state.

        Args:
            data: What its module reads: JSON, or bytes of `canvas.shared.transport`.
            key: Unique on the page.
            heard: Value that it reports -> called before the next run; see `events.hear`.
        """
        changes = {f"on_{name}_change": listener for name, listener in heard.items()}
        return _registered(self)(key=key, data=data, **changes)


@cache
def _bundle(path: str) -> Bundle:
    return read_bundle(path)


@cache
def _registered(component: Component) -> Callable[..., Any]:
    bundle = component.bundle
    return st.components.v2.component(component.name, css=bundle.style or None, js=bundle.module)
