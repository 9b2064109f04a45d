"""A row of buttons of which exactly one is chosen."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def one_of(
    label: str, options: Mapping[str, str], *, key: str, where: DeltaGenerator | None = None
) -> str:
    """Draw the buttons, without the label, and return the chosen option.

    Args:
        label: For screen readers.
        options: Option -> what its button says.
        key: Of `state.keep`, with one of the options as its default.
        where: Container to draw in; where the script stands if not given.
    """
    chosen = (where or st).segmented_control(
        label,
        list(options),
        format_func=options.__getitem__,
        key=key,
        label_visibility="collapsed",
        required=True,
    )
    assert chosen is not None, f"{key} has no value: call state.keep first"
    return chosen
