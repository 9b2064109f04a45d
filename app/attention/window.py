"""The window of a layer that attends only to nearby tokens (ModernBERT)."""

from __future__ import annotations

import streamlit as st

from bertcore.architecture.modern_config import ModernBertConfig

from ..shell import frame


def note(page: frame.Page, layer: int) -> None:
    """Write how far a layer attends, if not to every token."""
    config = page.bert.config
    reach = config.window(layer) if isinstance(config, ModernBertConfig) else None
    if reach is None:
        return
    num_tokens = page.trace.num_tokens
    cut = (
        "the cells beyond it are masked, not small."
        if num_tokens > reach + 1
        else f"this text of {num_tokens} tokens fits within it."
    )
    st.caption(f"Layer {layer} attends within {reach} tokens to each side (a local window); {cut}")
