"""Processor time of the server for an edit of the text, page by page.

One visitor uses the app's websocket and enters a new text for sentence A each time, so nothing
comes from the cache. The processor time of the whole server process is measured (user and system,
all threads), since this is what an edit takes from other visitors: the server is set up as one for
many. It depends little on the load of the machine. Closed headings stay closed.
"""

import os
import random
from pathlib import Path

from app.access.policy import CHECKPOINT_VARIABLE
from benchmarks import tables
from benchmarks.visitors import MANY, new_sentence
from tests.support.browser.running import running_app
from tests.support.session import Session

AIMS = {
    "": 0.040,
    "tokens": 0.025,
    "attention": 0.025,
    "masked-words": 0.040,
    "sentence-pairs": 0.025,
    "minimal-pair": 0.040,
    "compare": 0.025,
    "what-if": 0.060,
    "layer-map": 0.060,
}
"""Page -> seconds of processor time of an edit."""
QUERIES = {"layer-map": "map_method=pca"}  # the UMAP that follows is a job beside the pages
WARM_UP, EDITS = 3, 30


def run() -> str:
    """Return the table of processor time by page."""
    if not Path("/proc/self/stat").exists():
        return "Not measured: this system does not report a process's time in /proc."
    with running_app(os.environ.get(CHECKPOINT_VARIABLE), **MANY) as app:
        rows = [measure(app.url, app.process, page) for page in AIMS]
    columns = ("page", "edit", "sent", "aim", "")
    return tables.markdown(columns, rows)


def measure(url: str, process: int, page: str) -> tuple[str, ...]:
    """Return the row of a page: the mean over EDITS.

    Raises:
        RuntimeError: If the page showed an error.
    """
    chance = random.Random(page)
    with Session(url) as session:
        session.open(page, QUERIES.get(page, ""))
        for _ in range(WARM_UP):
            session.set("text_a", new_sentence(chance))
        spent, heard = _edits(session, process, chance)
        if session.errors:
            raise RuntimeError(f"{page or 'glance'} showed an error: {session.errors[0]}")
    aim = AIMS[page]
    name, verdict = page or "glance", tables.verdict(spent, aim)
    size = tables.megabytes(heard)
    return name, tables.milliseconds(spent), size, f"{aim * 1e3:.0f} ms", verdict


def _edits(session: Session, process: int, chance: random.Random) -> tuple[float, int]:
    """Return the mean processor time and the mean number of bytes of an edit."""
    before, heard = processor_seconds(process), session.num_bytes
    for _ in range(EDITS):
        session.set("text_a", new_sentence(chance))
    return (processor_seconds(process) - before) / EDITS, (session.num_bytes - heard) // EDITS


def processor_seconds(process: int) -> float:
    """Return the processor time of a process so far, to a hundredth of a second."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    _, _, fields = stat.rpartition(")")  # the name before it may contain spaces
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
