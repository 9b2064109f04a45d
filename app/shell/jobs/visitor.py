"""Who asks: the browser's session with the server."""

from __future__ import annotations

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def visitor() -> str:
    """Return the id of the session that runs this; "" outside of a page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def is_here(visitor: str) -> bool:
    """Return whether a visitor's page is connected; without a server everybody is."""
    return not runtime.exists() or runtime.get_instance().is_active_session(visitor)
