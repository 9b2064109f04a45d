"""Processor time of the server for an edit of the text, page by page, beside the least it can be.

One visitor uses the app's websocket and enters a new text for sentence A each time, so nothing
comes from the cache. The processor time of the whole server process is measured (user and system,
all threads), since this is what an edit takes from other visitors: the server is set up as one for
many. It depends little on the load of the machine. Closed headings stay closed.

The floor is an edit of an empty page of ten elements and one trace of the text. Pages and floor are
measured in turn, so that a machine that changes its speed changes both.
"""

import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from app.navigation import PAGES
from app.server.policy import CHECKPOINT_VARIABLE, default_source
from benchmarks import empty_page, tables
from benchmarks.visitors import MANY, new_sentence
from bertcore import load
from tests.support.browser.running import running_app
from tests.support.session import Session

AIM, AIMS = 2.0, {"tokens": 1.5, "attention": 1.5}
"""Most of an edit, in multiples of the floor; of some pages."""
MOST_BYTES = 40_000
"""Sent for an edit."""
QUERIES = {"layer-map": "map_method=pca"}  # the UMAP that follows is a job beside the pages
WARM_UP, EDITS, ROUNDS = 3, 25, 3
EXAMPLE = "Later he walked to the bank to borrow some money."


def run() -> str:
    """Return the table of processor time by page."""
    if not Path("/proc/self/stat").exists():
        return "Not measured: this system does not report a process's time in /proc."
    pages = [page.name for page in PAGES.values() if page.needs_text]
    spent: dict[str, list[float]] = {name: [] for name in pages}
    floors: list[float] = []
    chance = random.Random(0)  # one for all rounds: a text that came before is remembered
    sent: dict[str, int] = {}
    checkpoint = os.environ.get(CHECKPOINT_VARIABLE)
    with (
        running_app(checkpoint, **MANY) as app,
        running_app(script=Path(empty_page.__file__), **MANY) as empty,
    ):
        for _ in range(ROUNDS):
            page_edit, _ = measure(empty.url, empty.process, "", chance)
            floors.append(page_edit + trace_seconds())
            for name in pages:
                seconds, sent[name] = measure(app.url, app.process, name, chance)
                spent[name].append(seconds)
    floor = statistics.median(floors)
    rows = [("floor: an empty page and a trace", tables.milliseconds(floor), "1.00", "", "", "")]
    rows += [_row(name, spent[name], floor, sent[name]) for name in pages]
    columns = ("page", "edit", "of the floor", "aim", "", "sent (40 kB)")
    return tables.markdown(columns, rows)


def _row(name: str, spent: list[float], floor: float, sent: int) -> tuple[str, ...]:
    seconds, aim = statistics.median(spent), AIMS.get(name, AIM)
    times = seconds / floor
    size = f"{tables.megabytes(sent)} {tables.verdict(sent, MOST_BYTES)}"
    of_floor = f"{times:.2f}", f"{aim:.1f}", tables.verdict(times, aim)
    return name, tables.milliseconds(seconds), *of_floor, size


def measure(url: str, process: int, page: str, chance: random.Random) -> tuple[float, int]:
    """Return the mean processor time of an edit of a page, in seconds, and the bytes sent for it.

    Raises:
        RuntimeError: If the page showed an error.
    """
    with Session(url) as session:
        session.open(page, QUERIES.get(page, ""))
        for _ in range(WARM_UP):
            session.set("text_a", new_sentence(chance))
        heard = session.num_bytes
        spent = _mean(
            lambda: processor_seconds(process),
            lambda: session.set("text_a", new_sentence(chance)),
        )
        if session.errors:
            raise RuntimeError(f"{page} showed an error: {session.errors[0]}")
        return spent, (session.num_bytes - heard) // EDITS


def trace_seconds() -> float:
    """Return the mean processor time of a trace of such a pair, in seconds."""
    bert, chance, threads = load(default_source()), random.Random(0), torch.get_num_threads()
    torch.set_num_threads(1)  # as on the server, whose threads would only wait for each other
    try:
        for _ in range(WARM_UP):
            bert.trace(new_sentence(chance), EXAMPLE)
        return _mean(time.process_time, lambda: bert.trace(new_sentence(chance), EXAMPLE))
    finally:
        torch.set_num_threads(threads)


def _mean(clock: Callable[[], float], act: Callable[[], object]) -> float:
    begin = clock()
    for _ in range(EDITS):
        act()
    return (clock() - begin) / EDITS


def processor_seconds(process: int) -> float:
    """Return the processor time of a process so far, to a hundredth of a second."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    _, _, fields = stat.rpartition(")")  # the name before it may contain spaces
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
