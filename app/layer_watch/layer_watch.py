"""Report the position of a figure's slider, which moves in the browser, to the session."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from ..bundle import read_bundle


@cache
def _component() -> Callable[..., Any]:
    return st.components.v2.component("bertscope_layer_watch", js=read_bundle(__file__).module)


MAP_LABEL = "Map of the points by layer: the arrow keys change the layer"


def layer_watch(figure: str, *, key: str, label: str = MAP_LABEL) -> int | None:
    """Return the step, by its value, to which the visitor last moved the slider; None before that.

    Args:
        figure: CSS selector of the element that holds the Plotly figure.
        key: Key of the component.
        label: Accessible name of the slider.
    """
    result = _component()(
        data={"figure": figure, "label": label}, key=key, on_layer_change=lambda: None
    )
    layer = result.layer
    return None if layer is None else int(layer)
