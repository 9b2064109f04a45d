"""Large tables of visitors are read in processes of their own, while others work on."""

import contextlib
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.table_reading import READINGS, Reading, edits, read
from tests.support.upload_client import UploadClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each process starts anew"),
]

LONGEST = 2.0
"""Seconds of the longest edit on a machine that does other things; alone it takes 0.1 s."""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running_app(arguments=["--address", "0.0.0.0"], BERTSCOPE_ALLOW_TRAINING="10") as running:
        yield running


@pytest.fixture(scope="module")
def warm(server: Running) -> Running:
    """The server after imports, and with the process that waits for tables."""
    for reading in READINGS[:2]:
        read(server.url, reading, reading.make(0.05))
    return server


@pytest.mark.exhaustive  # tests/app/access/test_intruder.py edits beside small hostile tables
@pytest.mark.parametrize("reading", READINGS[::3], ids=lambda reading: reading.name)
def test_others_edit_while_a_large_table_is_read(reading: Reading, warm: Running) -> None:
    content = reading.make(0.1)
    with edits(warm.url) as seconds:
        read(warm.url, reading, content)
    assert max(seconds) < LONGEST
    assert "a file was not read" not in warm.log.read_text(encoding="utf-8")


def forks(server: Running) -> list[psutil.Process]:
    """The processes that read, below the one that waits."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for waiting in psutil.Process(server.process).children():
            found += waiting.children(recursive=True)
    return found


def test_a_reading_ends_with_its_visitor(server: Running) -> None:
    reading = READINGS[2]
    with Session(server.url) as session:
        session.open(*reading.page.split("?"))
        client = UploadClient(server.url)
        assert client.send(session.id, "file", reading.make(0.4), file_name="a.csv")[0] == 204
        session.attach(reading.box, "file", "a.csv")
        assert session.progress
        deadline = time.monotonic() + 60
        while not forks(server) and time.monotonic() < deadline:
            time.sleep(0.02)  # until it is the reading's turn
        assert forks(server)
    deadline = time.monotonic() + 60
    while forks(server) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert forks(server) == []
