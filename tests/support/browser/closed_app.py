"""The server of `app/main.py` whose visits end some seconds after their last session.

With BERTSCOPE_TEST_FREE_MEMORY its machine has that many bytes left.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from streamlit.starlette import App  # noqa: E402

from app.server import sessions, upload_limits, visits  # noqa: E402
from app.server.policy import policy  # noqa: E402
from app.server.server import lifespan, middleware  # noqa: E402

visits.GRACE_SECONDS, sessions.RELEASE_SECONDS = 3.0, 1.0
if "BERTSCOPE_TEST_FREE_MEMORY" in os.environ:
    upload_limits._free_memory = lambda: int(os.environ["BERTSCOPE_TEST_FREE_MEMORY"])
server = App(ROOT / "app" / "run.py", lifespan=lifespan, middleware=middleware(policy()))
