"""Large tables of visitors are read in processes of their own, while others work on."""

import contextlib
import json
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.support.browser.running import Running, running_app
from tests.support.session import Session, edits
from tests.support.upload_client import UploadClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each process starts anew"),
]

LONGEST = 2.0
"""Seconds of the longest edit on a machine that does other things; alone it takes 0.1 s."""
TRAINING = ("training", "runs=own&training_view=Start+a+run&training_kind=finetune&table=upload")


def csv(number: int) -> bytes:
    return b"text,label\n" + b"a film about a river,good\nnot that one,bad\n" * (number // 2)


def nested_json(number: int) -> bytes:
    more = [{"a": [1, {"b": 2}]}]
    rows = [{"text": f"a film {i}", "label": "ab"[i % 2], "more": more} for i in range(number)]
    return json.dumps({"data": rows}).encode()


def attach(session: Session, url: str, name: str, content: bytes) -> None:
    """Upload a table and give it to the page's box."""
    session.open(*TRAINING)
    assert UploadClient(url).send(session.id, "file", content, file_name=name)[0] == 204
    session.attach("table_upload", "file", name)


def read(url: str, name: str, content: bytes) -> None:
    """Let a page read a table."""
    with Session(url) as session:
        attach(session, url, name, content)
        while session.progress and not session.has_arrived():
            time.sleep(0.5)
            session.tick()
        assert session.errors == []


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running_app(arguments=["--address", "0.0.0.0"], BERTSCOPE_ALLOW_TRAINING="10") as running:
        yield running


@pytest.mark.exhaustive  # tests/app/server/test_intruder.py edits beside small hostile tables
@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", csv(100_000)), ("a.json", nested_json(40_000))],
    ids=["CSV", "nested JSON"],
)
def test_others_edit_while_a_large_table_is_read(
    name: str, content: bytes, server: Running
) -> None:
    read(server.url, "a.csv", csv(1000))  # imports, and the process that waits for tables
    with edits(server.url) as seconds:
        read(server.url, name, content)
    assert max(seconds) < LONGEST
    assert "a file was not read" not in server.log.read_text(encoding="utf-8")


def forks(server: Running) -> list[psutil.Process]:
    """The processes that read, below the one that waits."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for waiting in psutil.Process(server.process).children():
            found += waiting.children(recursive=True)
    return found


def test_a_reading_ends_with_its_visitor(server: Running) -> None:
    with Session(server.url) as session:
        attach(session, server.url, "a.csv", csv(400_000))
        assert session.progress
        deadline = time.monotonic() + 60
        while not forks(server) and time.monotonic() < deadline:
            time.sleep(0.02)  # until it is the reading's turn
        assert forks(server)
    deadline = time.monotonic() + 60
    while forks(server) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert forks(server) == []
