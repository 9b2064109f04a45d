"""Let the browser request a rerun once it has rendered everything it was sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from ..bundle import read_bundle


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("bertscope_arrival", js=read_bundle(__file__).module)


def arrival(sign: str, *, key: str) -> None:
    """Rerun the page, or the fragment around this, when a sign is on the page.

    Args:
        sign: Key of the container that is drawn when the result is there.
        key: Key of the component, which itself draws nothing.
    """
    _component()(data={"sign": sign}, key=key, on_arrived_change=lambda: None)
