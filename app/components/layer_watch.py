"""Keeps the layer at which the slider of the layer map stands, though it moves in the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "bertscope_layer_watch", js=(_HERE / "layer_watch.js").read_text(encoding="utf-8")
    )


def layer_watch(figure: str, *, key: str) -> int | None:
    """Return the layer to which the visitor last moved the slider, or None before that.

    Args:
        figure: CSS selector of the element that holds the Plotly figure.
        key: Of the component.
    """
    result = _component()(data={"figure": figure}, key=key, on_layer_change=lambda: None)
    layer = result.layer
    return None if layer is None else int(layer)
