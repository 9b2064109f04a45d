"""Memory of a closed server that visitors upload to: at the start, the peak, and after they left.

Each visitor opens the app's websocket, uploads one table of each kind as a browser does, lets a
page read it, and leaves. A visit ends some minutes later (`visits.GRACE_SECONDS`), and the server
then rests.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import psutil

from app.access.sessions import RELEASE_SECONDS
from app.access.visits import GRACE_SECONDS
from benchmarks import tables
from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.upload_client import UploadClient

PAGES = ("tokens", "attention", "masked-words", "mixing")
LARGEST_GROWTH = 150e6
"""Bytes that may stay when the server has rested."""


@dataclass(slots=True)
class Options:
    """Settings of the measurement."""

    uploads: int = 100
    rest: float = 300.0
    """Seconds after the visits have ended."""
    at_once: int = 4
    """Visitors at the same time."""
    scale: float = 1.0
    """Factor on the size of the tables."""


OPTIONS = Options()


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, and what a visitor does with it."""

    content: bytes
    name: str
    page: str
    """With its query: where it is uploaded."""


@dataclass(slots=True)
class Memory:
    """Resident bytes of a server and proportional ones of its children, and their peak."""

    process: int
    peak: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    def now(self) -> tuple[int, int]:
        """Return the bytes of the server, and of all of its children."""
        server = psutil.Process(self.process)
        children = 0
        for child in server.children(recursive=True):
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                children += child.memory_full_info().pss
        return server.memory_info().rss, children

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Note the peak of the server's memory inside the block."""

        def watch() -> None:
            server = psutil.Process(self.process)
            while not self._ended.wait(0.1):
                self.peak = max(self.peak, server.memory_info().rss)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()


def run() -> str:
    """Return the table of memory."""
    if not psutil.LINUX:
        return "Not measured: the proportional memory of processes is read from Linux's /proc."
    kinds = make_uploads(OPTIONS.scale)
    with running_app(arguments=["--address", "0.0.0.0"]) as app:
        rows, growth = measure(app, kinds)
    columns = ("", "server", "growth", "its processes")
    total = sum(len(kind.content) for kind in kinds) / 1e6
    minutes = (GRACE_SECONDS + OPTIONS.rest) / 60
    said = (
        f"{OPTIONS.uploads} uploads, {len(kinds)} of {total:.0f} MB by each visitor, "
        f"{OPTIONS.at_once} visitors at once. Growth {minutes:.0f} minutes after the last of them "
        f"left, aim {tables.megabytes(LARGEST_GROWTH)}: {tables.verdict(growth, LARGEST_GROWTH)}."
    )
    return f"{tables.markdown(columns, rows)}\n\n{said}"


def measure(app: Running, kinds: list[Upload]) -> tuple[list[tuple[str, ...]], int]:
    """Return the rows of a fresh server, and the bytes by which it has grown at the end.

    Raises:
        RuntimeError: If an upload was not taken.
    """
    memory = Memory(app.process)
    with Session(app.url) as first:  # imports, the shipped checkpoint, compiled parts
        for page in ("checkpoints", *PAGES, "layer-map", "inspect"):
            first.open(page)
    start, _ = memory.now()
    rows = [_row("start: pages were opened", memory, start)]
    whole, rest = divmod(OPTIONS.uploads, len(kinds))
    counts = [len(kinds)] * whole + [rest] * (rest > 0)
    with memory.watched(), ThreadPoolExecutor(OPTIONS.at_once) as pool:
        list(pool.map(lambda count: visit(app.url, kinds[:count]), counts))
    rows.append(("peak", tables.megabytes(memory.peak), _growth(memory.peak - start), ""))
    rows.append(_row("the last visitor has left", memory, start))
    time.sleep(GRACE_SECONDS + RELEASE_SECONDS + 5)
    rows.append(_row("all visits have ended", memory, start))
    time.sleep(OPTIONS.rest)
    rows.append(_row(f"after {OPTIONS.rest:.0f} s of rest", memory, start))
    return rows, memory.now()[0] - start


def _row(name: str, memory: Memory, start: int) -> tuple[str, ...]:
    server, children = memory.now()
    return name, tables.megabytes(server), _growth(server - start), tables.megabytes(children)


def _growth(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:+.0f} MB"


def visit(url: str, uploads: list[Upload]) -> None:
    """Upload files as one visitor, look at each, and leave.

    Raises:
        RuntimeError: If the server did not take one.
    """
    client = UploadClient(url)
    with Session(url) as session:
        for number, upload in enumerate(uploads):
            session.open(*upload.page.split("?"))
            file = f"file-{number}"
            status, said = client.send(session.id, file, upload.content, file_name=upload.name)
            if status != 204:
                raise RuntimeError(f"the server did not take {upload.name}: {status} {said}")
            read(session, file)
        session.leave()


def make_uploads(scale: float = 1.0) -> list[Upload]:
    """Return one upload of each kind.

    Args:
        scale: Factor on the size of the tables.
    """
    line = '"A film about the river bank, not very good, {}",{}\n'
    labelled, sentences = (
        "text,label\n" + "".join(line.format(n, ("negative", "positive")[n % 2]) for n in numbers)
        for numbers in (range(int(400_000 * scale)), range(int(800_000 * scale)))
    )
    return [
        Upload(labelled.encode(), "a.csv", "inspect?inspect_view=file&checkpoint=sentiment"),
        Upload(sentences.encode(), "b.csv", "layer-map?map_source=file&map_method=pca"),
    ]


def read(session: Session, file: str) -> None:
    """Let the page read a table."""
    key = next(key for key in session.widgets if key in ("inspect_upload", "map_upload"))
    session.attach(key, file, "table.csv")
    _check(session)


def _check(session: Session) -> None:
    if session.errors:
        raise RuntimeError(f"a visitor saw an error: {session.errors[0]}")
