"""What a visitor agreed to: sources that they chose themselves, and pickles that they trust.

Not in the URL: a link must neither use the network by itself nor give consent.
"""

import streamlit as st

from ..server.policy import default_source, policy

_AGREED = "_pickles_agreed"
_CHOSEN = "_sources_chosen"


def agree(source: str) -> None:
    """Note that the visitor trusts the pickled weights of a source."""
    st.session_state[_AGREED] = {*st.session_state.get(_AGREED, ()), source}


def has_agreed(source: str) -> bool:
    """Return whether the visitor trusts the pickled weights of a source.

    Nobody's trust is enough on a closed server: its machine is not the visitor's.
    """
    return not policy().is_closed and source in st.session_state.get(_AGREED, ())


def allow(source: str) -> None:
    """Note that the visitor chose a source, for which the hub may be asked."""
    st.session_state[_CHOSEN] = {*st.session_state.get(_CHOSEN, ()), source}


def is_chosen(source: str) -> bool:
    """Return whether the visitor chose a source, or whoever started the server did."""
    return source == default_source() or source in st.session_state.get(_CHOSEN, ())
