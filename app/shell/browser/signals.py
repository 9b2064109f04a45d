"""Components that draw nothing: they act in the browser, or report what happened there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from ...parts.component import Component
from ...server import upload_limits
from ...server.streamlit_internals import session
from . import kept

_HERE = Path(__file__)
ARRIVAL = Component("bertscope_arrival", str(_HERE.with_name("render_signal")))
LIVE_TEXT = Component("bertscope_live_text", str(_HERE.with_name("live_text")))
PAGE_TOP = Component("bertscope_page_top", str(_HERE.with_name("page_top")))
UPLOAD_ERRORS = Component("bertscope_upload_errors", str(_HERE.with_name("upload_errors")))
ALWAYS = (LIVE_TEXT, PAGE_TOP, UPLOAD_ERRORS)
"""Those of every page; the other one waits for a picture."""
_TIMES = "_page_top_times"
PAUSE_MS = 120  # pause in typing after which the text is sent
REASONS = {
    "413": "Too large (413) for this server or a proxy before it. Send a smaller file, or have the "
    "limit raised.",
    "403": "Not accepted (403). Open the app in a tab of its own, with cookies; a proxy must pass "
    "the Host header on.",
    "404": "No longer expected (404): the visit has ended, or a proxy passes on a part of the app "
    "alone. Load the page again.",
    "Network Error": "The connection broke. Try again, or send a smaller file: some proxies end "
    "large uploads so.",
}
"""Why an upload did not arrive, by what the browser says: the status of HTTP, or no answer."""
OTHER = "The server or a proxy before it did not take the file{}. Try again in a minute."


def arrival(sign: str, *, key: str) -> None:
    """Rerun the page, or the fragment around this, when the browser has rendered a sign.

    Args:
        sign: Key of the container that is drawn when the result is there.
        key: Key of the component.
    """
    ARRIVAL(data={"sign": sign}, key=key, arrived=lambda arrived: None)


def live_text(keys: Sequence[str]) -> None:
    """Submit the text areas with these keys while the visitor types, after a short pause."""
    LIVE_TEXT(key="live_text", data={"keys": list(keys), "pauseMs": PAUSE_MS})


def show_top(page: str, step: str = "", part: str = "") -> None:
    """Scroll up if page or step is another one than before.

    Args:
        page: Its name.
        step: Changes with each step of a lesson that is opened.
        part: Key of the element that the step is about, to be scrolled to; "" for the page's top.
    """
    step = f"{step}{st.session_state.get(_TIMES, '')}"
    keep = st.session_state.get(kept.WANTED, {})
    PAGE_TOP(key="page_top", data={"page": page, "step": step, "part": part, "keep": keep})


def go_to_top() -> None:
    """Scroll up when the page is drawn next."""
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1


def explain_refused() -> None:
    """Show why an upload of this page was refused, in its corner."""
    UPLOAD_ERRORS(key="upload_errors", data=None, refused=_show_refusal)


def _show_refusal(status: Any) -> None:
    code = f" ({status})" if str(status).isdecimal() else ""
    usual = REASONS.get(str(status), OTHER.format(code[:20]))
    known = upload_limits.refused.pop(session(), usual)
    st.toast(known, icon=":material/error:", duration="infinite")
