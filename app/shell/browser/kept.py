"""Choices that the browser keeps from visit to visit, as cookies, which `page_top.ts` writes."""

from urllib.parse import unquote

import streamlit as st

WANTED = "_cookies_wanted"


def kept(name: str) -> str:
    """Return what the browser had kept when the visit began; empty for nothing."""
    return unquote(dict(st.context.cookies).get(f"bertscope_{name}", ""))


def keep(name: str, value: str) -> None:
    """Make the browser keep a choice from now on, or forget it if it is empty."""
    st.session_state.setdefault(WANTED, {})[name] = value
