"""The reason why an upload did not arrive, in place of a status of HTTP."""

from typing import Any

import streamlit as st

from ..access import upload_limits
from ..component import Component
from ..streamlit_internals import session

COMPONENT = Component("bertscope_upload_errors", __file__)

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
"""By what the browser says: the status of HTTP, or no answer at all."""
OTHER = "The server or a proxy before it did not take the file{}. Try again in a minute."


def explain_refused() -> None:
    """Show why an upload of this page was refused, in its corner; draws nothing itself."""
    COMPONENT(key="upload_errors", data=None, refused=_show)


def _show(status: Any) -> None:
    code = f" ({status})" if str(status).isdecimal() else ""
    usual = REASONS.get(str(status), OTHER.format(code[:20]))
    known = upload_limits.refused.pop(session(), usual)
    st.toast(known, icon=":material/error:", duration="infinite")
