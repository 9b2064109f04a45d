"""Memory of a long session: the server's resident memory over 2,000 view changes.

One visitor of the real app goes from page to page, opens layers and heads, switches between a few
texts, and turns heads off. The visitor uses the app's websocket and draws nothing. The changes
before the first number warm up the server: imports, compiled kernels, caches of the texts.
"""

import os
import re
from pathlib import Path

from app.access.policy import CHECKPOINT_VARIABLE
from benchmarks import tables
from tests.support.browser.running import running_app
from tests.support.session import Session
from tests.support.view_changes import make_changes, view_changes

CHANGES, WARM_UP, NUM_SAMPLES = 2000, 300, 8
LARGEST_GROWTH = 50e6
_KEPT = re.compile(r"Kept results: ([\d.,]+) MB")


def run() -> str:
    """Return the table of resident memory by the number of changes."""
    if not Path("/proc/self/statm").exists():
        return "Not measured: this system does not report a process's resident memory in /proc."
    rows = []
    with running_app(os.environ.get(CHECKPOINT_VARIABLE)) as app, Session(app.url) as session:
        changes = view_changes(session)
        make_changes(changes, WARM_UP)
        first = resident_bytes(app.process)
        rows.append(("after the warm-up", tables.megabytes(first), "", kept(session)))
        for sample in range(1, NUM_SAMPLES + 1):
            make_changes(changes, CHANGES // NUM_SAMPLES)
            now = resident_bytes(app.process)
            done = f"{sample * CHANGES // NUM_SAMPLES:,}"
            rows.append(
                (done, tables.megabytes(now), f"{(now - first) / 1e6:+.1f} MB", kept(session))
            )
        if session.errors:
            raise RuntimeError(f"the app showed errors: {session.errors[:3]}")
    columns = ("view changes", "resident memory", "growth", "of which cached results")
    verdict = tables.verdict(now - first, LARGEST_GROWTH)
    summary = f"Growth over {CHANGES:,} changes, aim {tables.megabytes(LARGEST_GROWTH)}: {verdict}."
    return f"{tables.markdown(columns, rows)}\n\n{summary}"


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process."""
    fields = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * 4096


def kept(session: Session) -> str:
    """Return the size of the results cached for all visitors, from the sidebar."""
    match = _KEPT.search(" ".join(session.page_texts))
    return f"{match[1]} MB" if match else ""
