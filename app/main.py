"""The entry of the app: `streamlit run app/main.py`, from a checkout or from a wheel's folder.

This is the server; it runs `run.py` for each visitor.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if sys.path[0] != str(ROOT):  # first, so that an app.py elsewhere does not shadow our `app`
    sys.path[:] = [str(ROOT), *(entry for entry in sys.path if entry != str(ROOT))]

import streamlit as st  # noqa: E402
from streamlit.starlette import App  # noqa: E402

from app.server import class_store  # noqa: E402
from app.server.policy import policy  # noqa: E402
from app.server.server import lifespan, middleware  # noqa: E402
from app.server.streamlit_internals import (  # noqa: E402
    guard_messages,
    keep_messages_of_fragments,
    spare_work,
)
from app.server.upload_limits import visitor_of  # noqa: E402


def show_error(error: Exception) -> bool:
    """Show what no guard of a page caught, after Streamlit has logged it, as one sentence."""
    from app.shell.frame import UNEXPECTED  # which imports torch: not before the server listens

    st.error(UNEXPECTED.format(kind=type(error).__name__))
    return True


try:
    layers = middleware(policy())
    class_store.store()
except ValueError as error:
    raise SystemExit(f"Error: {error}") from error

keep_messages_of_fragments()
spare_work()
guard_messages(is_closed=policy().is_closed, visitor_of=visitor_of)
server = App(
    ROOT / "app" / "run.py", lifespan=lifespan, middleware=layers, on_script_error=show_error
)
