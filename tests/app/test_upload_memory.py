"""A closed server gives back the memory of a hundred uploads when their visitors have left."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from benchmarks.memory import resident_bytes
from bertscope.cli.commands.open_app import SERVER_THREADS
from tests.support.browser.running import ROOT, Running, running_app
from tests.support.session import Session
from tests.support.upload_client import UploadClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.exhaustive,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

VISITORS = 20
"""Each uploads two files of 7 MB together: 140 MB in all."""
LARGEST_GROWTH = 60e6
"""Bytes: a third of what stayed before visits gave their memory back (186 MB). 2 MB stay."""
SECONDS = 120.0


ROWS = "".join(
    f'"A film about the river bank, not very good, {n}",{("negative", "positive")[n % 2]}\n'
    for n in range(80_000)
)
NUMBERS = (40_000, 80_000)
"""Rows of each table that a visitor uploads."""


def visit(url: str) -> None:
    """Upload tables as one visitor, look at each, and leave."""
    client = UploadClient(url)
    with Session(url) as session:
        for number in NUMBERS:
            session.open("inspect", "inspect_view=file&checkpoint=sentiment")
            content = f"text,label\n{ROWS[: len(ROWS) * number // max(NUMBERS)]}".encode()
            assert client.send(session.id, f"{number}", content, file_name="a.csv") == (204, "")
            session.attach("inspect_upload", f"{number}", "table.csv")
            assert session.errors == []
        session.leave()


@contextmanager
def closed_app(**environ: str) -> Iterator[Running]:
    """A closed server whose visits end after seconds."""
    with running_app(
        script=ROOT / "tests" / "support" / "browser" / "closed_app.py",
        BERTSCOPE_ACCESS="closed",
        STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2",
        **SERVER_THREADS,
        **environ,
    ) as running:
        yield running


def test_a_hundred_uploads_leave_with_their_visitors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with closed_app() as server:
        visit(server.url)  # imports, compiled parts
        before = settled(server, tmp_path)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(visit, [server.url] * VISITORS))
        growth = settled(server, tmp_path) - before
    assert growth < LARGEST_GROWTH, f"{growth / 1e6:.0f} MB"


def settled(server: Running, place: Path) -> int:
    """Return the server's resident bytes when all visits are over and memory was released."""
    deadline = time.monotonic() + SECONDS
    while [*place.glob("bertscope-visits-*/*/visit-*")]:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    least = resident_bytes(server.process)
    for _ in range(20):  # it is released some seconds after the end
        time.sleep(0.5)
        least = min(least, resident_bytes(server.process))
    return least


def test_a_crowd_that_uploads_at_once_does_not_take_the_last_memory() -> None:
    """Only what fits into a server that has 1.2 GB left, of which 1 GB stays free, is received."""
    size = 20_000_000  # two at once, since each may take four times as much
    with closed_app(BERTSCOPE_TEST_FREE_MEMORY="1200000000") as server, ExitStack() as stack:
        visitors = [stack.enter_context(Session(server.url)) for _ in range(12)]
        for visitor in visitors:
            visitor.open("papers")
        client = UploadClient(server.url)

        def send(visitor: Session) -> tuple[int, str]:
            return client.send(visitor.id, "file", bytes(size))

        with ThreadPoolExecutor(len(visitors)) as pool:
            answers = list(pool.map(send, visitors))
        assert {status for status, _ in answers} <= {204, 507}
        assert all("1200 MB of memory left" in said for status, said in answers if status == 507)
        assert client.send(visitors[0].id, "other", bytes(2 * size)) == (204, "")
        status, said = client.send(visitors[0].id, "another", bytes(3 * size))
        assert (status, "may take 240 MB" in said) == (507, True)
        visitors[1].open("tokens")
        assert visitors[1].errors == []
