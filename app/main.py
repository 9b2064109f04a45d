"""The entry of the app: `streamlit run app/main.py`, from a checkout or from a wheel's folder.

This is the server; it runs `run.py` for each visitor.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if sys.path[0] != str(ROOT):  # first, so that an app.py elsewhere does not shadow our `app`
    sys.path[:] = [str(ROOT), *(entry for entry in sys.path if entry != str(ROOT))]

from streamlit.starlette import App  # noqa: E402

from app.access.bug_log import guard_log  # noqa: E402
from app.access.policy import policy  # noqa: E402
from app.access.server import lifespan, middleware  # noqa: E402
from app.shell.client_messages import guard_messages, show_error  # noqa: E402

try:
    guard_log(is_closed=policy().is_closed)
    layers = middleware(policy())
except ValueError as error:
    raise SystemExit(f"Error: {error}") from error

guard_messages(is_closed=policy().is_closed)
server = App(
    ROOT / "app" / "run.py", lifespan=lifespan, middleware=layers, on_script_error=show_error
)
