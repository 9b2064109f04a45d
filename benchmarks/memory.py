"""Memory of a long session: the server's resident memory over 2,000 view changes.

One visitor of the real app goes from page to page, opens layers and heads, switches between a few
texts, and turns heads off. The visitor uses the app's websocket and draws nothing. The changes
before the first number warm up the server: imports, compiled kernels, caches of the texts.
"""

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from app.server.policy import CHECKPOINT_VARIABLE
from benchmarks import tables
from tests.support.browser.running import running_app
from tests.support.session import Session

CHANGES, WARM_UP, NUM_SAMPLES = 2000, 300, 8
LARGEST_GROWTH = 50e6
TEXTS = (
    "The river bank was steep and the water was cold.",
    "She went to the bank to open an account.",
    "Paris is the capital of [MASK], and Berlin that of Germany.",
    "The man who sold the old house bought a new one.",
    "It had rained all night, so the streets were wet.",
    "He did not say what he had seen.",
)
VIEWS = ("Heat map", "Neurons", "Lines")
PATTERNS = ("Causal", "Prefix", "All")
STAYS = {
    "attention": 44,
    "what-if": 20,
    "glance": 6,
    "masked-words": 6,
    "sentence-pairs": 12,
    "minimal-pair": 6,
    "papers": 2,
    "attention ": 2,
    "training": 2,
}
"""Changes on each page of a round, the one that opens it included: 100."""
OPENED = {"attention": "other_heads=1"}
"""Page -> what is in its address: the heading that is opened."""
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


def make_changes(changes: Iterator[None], count: int) -> None:
    """Make so many changes."""
    for _ in islice(changes, count):
        pass


def view_changes(session: Session) -> Iterator[None]:
    """Make one change after another, for ever; each is done when it is yielded."""
    number = 0
    while True:
        for name, stay in STAYS.items():
            session.open(name.strip(), OPENED.get(name.strip(), ""))
            yield
            acts = ACTS.get(name.strip(), (_write,))
            for step in range(stay - 1):
                number += 1
                acts[step % len(acts)](session, number)
                yield


def _write(session: Session, number: int) -> None:
    if "text_a" in session.widgets:
        session.set("text_a", TEXTS[number % len(TEXTS)])
    else:
        session.open("training" if number % 2 else "papers")


def _pick(session: Session, number: int) -> None:
    heads = [number % 4] if number % 3 else []
    session.report("attention_overview", "picked", {"layer": number // 4 % 4, "heads": heads})


def _look(session: Session, number: int) -> None:
    session.set("view", [VIEWS[number % len(VIEWS)]])


def _switch(session: Session, number: int) -> None:
    off = [f"{number % 4}.{number // 4 % 4}", "3.3"]
    session.report("head_switches", "switched", {"off": off, "skipped": []})


def _pattern(session: Session, number: int) -> None:
    session.set("pattern", [PATTERNS[number % len(PATTERNS)]])


ACTS: dict[str, tuple[Callable[[Session, int], None], ...]] = {
    "attention": (_pick, _pick, _look, _pick, _pick, _write),
    "what-if": (_switch, _switch, _pattern, _switch, _write),
}
