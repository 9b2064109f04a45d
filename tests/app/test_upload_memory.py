"""A closed server gives back the memory of a hundred uploads when their visitors have left.

`python -m benchmarks uploads` measures the same with files as large as visitors may send.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.memory import resident_bytes
from benchmarks.uploads import Upload, make_uploads, visit
from bertscope.cli.open_app import SERVER_THREADS
from tests.support.browser.running import ROOT, Running, running_app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

VISITORS = 20
"""Each uploads five files of 9 MB together: 180 MB in all."""
LARGEST_GROWTH = 60e6
"""Bytes: a third of what stayed before visits gave their memory back (186 MB). 2 MB stay."""
SECONDS = 120.0


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> list[Upload]:
    return make_uploads(tmp_path_factory.mktemp("uploads"), scale=0.1)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A closed server whose visits end after seconds, with its files below `tmp_path`."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with running_app(
        script=ROOT / "tests" / "support" / "browser" / "closed_app.py",
        BERTSCOPE_ACCESS="closed",
        STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="2",
        **SERVER_THREADS,
    ) as running:
        yield running


def test_a_hundred_uploads_leave_with_their_visitors(
    server: Running, uploads: list[Upload], tmp_path: Path
) -> None:
    visit(server.url, uploads)  # imports, compiled parts
    before = settled(server, tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: visit(server.url, uploads), range(VISITORS)))
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
