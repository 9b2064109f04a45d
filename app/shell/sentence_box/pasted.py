"""A box for pasted sentences, which are kept across pages."""

import streamlit as st


def pasted(key: str, label: str, placeholder: str) -> str:
    """Draw the box and return its text, which may be blank.

    It is kept in the session and not by `state`: thirty sentences would make the address too long
    to send.

    Args:
        key: Key of the box; the kept text has the same key with "_" in front.
    """
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(f"_{key}", "")
    text: str = st.text_area(label, key=key, height=160, placeholder=placeholder)
    st.session_state[f"_{key}"] = text
    return text
