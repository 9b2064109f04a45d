"""The end of Streamlit's sessions, and of the memory that visitors used.

Streamlit keeps a session whose connection has ended for two minutes, with its files and state, so
that its browser can come back to it. It is removed only when another session ends after that time:
what the last visitors of a day have uploaded would stay in memory until the next ones leave.
"""

import asyncio
import threading

import streamlit as st

from bertcore.base.spare_memory import release

from . import streamlit_internals as internals

WATCH_SECONDS = 60.0
"""After which it is asked again whether a session that sent a file is connected."""
RELEASE_SECONDS = 30.0
"""After which memory is released, once for all visitors who have left by then: no page runs during
the 0.1 to 0.3 s that it takes."""
_lock = threading.Lock()
_releasing: threading.Timer | None = None
_watched: set[str] = set()


def watch(session: str) -> None:
    """Close a session that sent a file some time after its connection ends.

    A program can send files without ever running a page, and so without `visits.follow`.
    """
    if session not in _watched:
        _watched.add(session)
        asyncio.get_running_loop().call_later(WATCH_SECONDS, _look_after, session)


def _look_after(session: str) -> None:
    _watched.discard(session)
    (watch if internals.is_connected(session) else close_later)(session)


def release_soon() -> None:
    """Return unused memory to the system after RELEASE_SECONDS, in a thread of its own."""
    global _releasing
    with _lock:
        if _releasing is None:
            _releasing = threading.Timer(RELEASE_SECONDS, _release)
            _releasing.daemon = True
            _releasing.start()


def _release() -> None:
    global _releasing
    with _lock:
        _releasing = None
    release()


def close_later(session: str) -> None:
    """Close a session that has lost its connection, shortly before Streamlit would forget it."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # as when a session is garbage, which closes itself
        return
    seconds = max(0.0, float(st.get_option("server.disconnectedSessionTTL")) - 1)
    loop.call_later(seconds, _close, session)


def _close(session: str) -> None:
    if internals.close_session(session):  # else the browser came back
        release_soon()
