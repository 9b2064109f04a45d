"""A class on one server: the time of a change when many visitors use it at once.

Each visitor uses the app's websocket from a thread of this process, opens pages, edits the text and
opens heads, with pauses in between. All texts are different, so nothing comes from another
visitor's results. The times include the client's own work on the same cores. For comparison, the
same app runs with Streamlit's default settings (see `streamlit_defaults`).
"""

import contextlib
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from app.server.policy import CHECKPOINT_VARIABLE
from benchmarks import streamlit_defaults, tables
from tests.support.browser.deployed import deployed_app
from tests.support.browser.running import Running, running_app
from tests.support.session import Session

PAGES = (
    "glance",
    "tokens",
    "attention",
    "masked-words",
    "sentence-pairs",
    "minimal-pair",
    "what-if",
)
KINDS = ("edit", "head", "page")
WORDS = (
    "river bank money water house teacher music winter garden letter captain doctor story village "
    "morning evening table window mountain forest"
).split()
VERBS = "saw found left reached painted sold crossed watched opened remembered".split()


@dataclass(slots=True)
class Options:
    """Settings of the measurement."""

    visitors: tuple[int, ...] = (30, 100, 200)
    """Number of simultaneous visitors of each measurement."""
    servers: tuple[int, ...] = (1, 2)
    """Number of servers that they are divided among; several are those of docs/deploy."""
    seconds: float = 60.0
    """Length of each measurement."""
    think: float = 6.0
    """Mean seconds between a visitor's changes."""


OPTIONS = Options()
MANY = {"GOMP_SPINCOUNT": "0"}
"""Variables that make a server on localhost behave like one for many visitors."""
AIMS = {30: 0.2, 100: 1.0}
"""Number of visitors -> 95th percentile of the seconds of a change."""
LARGEST_PER_VISITOR = 2e6
MOST_OF_DEFAULTS = 30
"""Visitors whom a server with Streamlit's settings gets: 100 wait 8 s, and 200 see time-outs."""


@dataclass(slots=True)
class Log:
    """Times and errors of all visitors."""

    seconds: list[float] = field(default_factory=list)
    """Seconds of each change."""
    errors: list[str] = field(default_factory=list)


def run() -> str:
    """Return the table of latencies and memory."""
    rows = []
    checkpoint, defaults = os.environ.get(CHECKPOINT_VARIABLE), streamlit_defaults.__file__
    for count in OPTIONS.visitors:
        for servers in OPTIONS.servers:
            if servers == 1:
                with running_app(checkpoint, **MANY) as app:
                    rows += measure(app, count)
            else:
                named = {} if checkpoint is None else {CHECKPOINT_VARIABLE: checkpoint}
                with deployed_app(servers, **MANY, **named) as app:
                    measured = measure(app, count)
                rows += [(f"{row[0]}, {servers} servers", *row[1:]) for row in measured]
        if count > MOST_OF_DEFAULTS:
            continue
        with (
            tempfile.NamedTemporaryFile(suffix=".toml") as nothing,
            running_app(checkpoint, script=Path(defaults), settings=Path(nothing.name)) as app,
        ):
            every, *_, memory, _, _ = measure(app, count)
            rows += [(f"{row[0]}, Streamlit's settings", *row[1:]) for row in (every, memory)]
    columns = ("visitors, change", "changes", "median", "95th percentile", "maximum", "aim")
    return tables.markdown(columns, rows)


def measure(app: Running, count: int) -> list[tuple[str, ...]]:
    """Return the rows for `count` visitors of a fresh server.

    Raises:
        RuntimeError: If a visitor saw an error or lost a connection.
    """
    for _ in range(8):  # imports, the checkpoint, compiled parts, of each server
        with Session(app.url) as first:
            for page in PAGES:
                first.open(page)
    before, processor, client = _memory(app), _processor_seconds(app), time.process_time()
    log, start = Log(), threading.Barrier(count + 1)
    threads = [
        threading.Thread(target=_visit, args=(app.url, number, log, start), daemon=True)
        for number in range(count)
    ]
    for thread in threads:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):  # the visitor's error is reported below
        start.wait()
    for thread in threads:
        thread.join()
    if log.errors:
        raise RuntimeError(f"{len(log.errors)} visitors saw errors, such as {log.errors[0]}")
    growth = (_memory(app) - before) / count
    processor, client = _processor_seconds(app) - processor, time.process_time() - client
    every = log.seconds
    worst = float(np.percentile(every, 95))
    aim = f"{AIMS[count]} s {tables.verdict(worst, AIMS[count])}" if count in AIMS else ""
    rows = [_row(f"**{count}, all changes**", every, aim)]
    verdict = tables.verdict(growth, LARGEST_PER_VISITOR)
    rows.append((f"{count}, memory per visitor", "", tables.megabytes(growth), "", "", verdict))
    for name, seconds in (("server", processor), ("client", client)):
        each = tables.milliseconds(seconds / len(every))
        rows.append((f"{count}, processor time of a change, {name}", "", each, "", "", ""))
    return rows


def _processes(app: Running) -> list[psutil.Process]:
    server = psutil.Process(app.process)
    return [server, *server.children(recursive=True)]


def _memory(app: Running) -> int:
    return sum(process.memory_info().rss for process in _processes(app))


def _processor_seconds(app: Running) -> float:
    times = [process.cpu_times() for process in _processes(app)]
    return sum(float(each.user + each.system) for each in times)


def _row(name: str, values: list[float], aim: str) -> tuple[str, ...]:
    middle, high = (float(np.percentile(values, q)) for q in (50, 95))
    most = max(values)
    return (name, str(len(values)), *map(tables.milliseconds, (middle, high, most)), aim)


def _visit(url: str, number: int, log: Log, start: threading.Barrier) -> None:
    """Use the app as one visitor until the time is over."""
    chance = random.Random(number)
    try:
        with Session(url) as session:
            session.open(PAGES[number % len(PAGES)])
            start.wait()
            time.sleep(chance.uniform(0, OPTIONS.think))
            end = time.monotonic() + OPTIONS.seconds
            page = PAGES[number % len(PAGES)]
            while time.monotonic() < end:
                page = _change(session, page, number, chance, log)
                time.sleep(chance.uniform(0.5, 1.5) * OPTIONS.think)
            if session.errors:
                log.errors.append(session.errors[0])
    except Exception as error:  # raised in a thread; reported by `measure`
        log.errors.append(f"{type(error).__name__}: {error}")
        start.abort()


def _change(session: Session, page: str, number: int, chance: random.Random, log: Log) -> str:
    """Make a change and record its time; return the page that is open afterwards."""
    kind = chance.choice(KINDS)
    if kind == "page":
        page = chance.choice(PAGES)
    if kind == "head" and page != "attention":
        kind = "edit"
    acts: dict[str, Callable[[], None]] = {
        "page": lambda: session.open(page),
        "edit": lambda: session.set("text_a", new_sentence(chance)),
        "head": lambda: session.report(
            "attention_lines", "selection", {"layer": number % 4, "heads": [chance.randrange(4)]}
        ),
    }
    begin = time.perf_counter()
    acts[kind]()
    log.seconds.append(time.perf_counter() - begin)
    return page


def new_sentence(chance: random.Random) -> str:
    """Return a unique sentence."""
    nouns = chance.sample(WORDS, 4)
    number = chance.randrange(10**6)
    return f"The {nouns[0]} {chance.choice(VERBS)} the {nouns[1]} near the {nouns[2]} of {number}."
