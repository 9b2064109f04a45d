"""Let the browser ask for what was awaited, once it has drawn all that it was sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st


@cache
def _component() -> Callable[..., Any]:
    script = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    return st.components.v2.component("bertscope_arrival", js=script)


def arrival(sign: str, *, key: str) -> None:
    """Run again the page, or the fragment that this stands in, when a sign is on the page.

    Args:
        sign: Key of the container that is drawn when what was awaited is there.
        key: Of the component, which itself draws nothing.
    """
    _component()(data={"sign": sign}, key=key, on_arrived_change=lambda: None)
