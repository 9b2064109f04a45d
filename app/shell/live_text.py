"""Submit the text boxes while the visitor types, after a short pause."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ..bundle import read_bundle

PAUSE_MS = 120
"""Pause in typing after which the text is sent."""

_BUNDLE = read_bundle(__file__)
_component = st.components.v2.component("bertscope_live_text", js=_BUNDLE.module)


def live_text(keys: Sequence[str]) -> None:
    """Make the text areas with these keys live; draws nothing itself."""
    _component(key="live_text", data={"keys": list(keys), "pauseMs": PAUSE_MS})
