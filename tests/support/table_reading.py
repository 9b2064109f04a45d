"""Large tables of visitors: uploaded and read over the app's websocket, while another one edits."""

import io
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.visitors import new_sentence
from tests.support.session import Session
from tests.support.upload_client import UploadClient

TRAINING = "training?runs=own&training_view=Start+a+run&training_kind=finetune&table=upload"


@dataclass(frozen=True, slots=True)
class Reading:
    """A table, and where it is uploaded."""

    name: str
    file_name: str
    page: str
    """With its query."""
    box: str
    """Key of the upload box."""
    make: Callable[[float], bytes]
    """Called with the factor on the size."""


@contextmanager
def edits(url: str) -> Iterator[list[float]]:
    """Let a visitor edit within the block; give the seconds of each edit, complete at its end."""
    ended, ready, seconds = threading.Event(), threading.Event(), list[float]()

    def edit() -> None:
        chance = random.Random(0)
        with Session(url) as session:
            session.open("tokens")
            for number in range(10_000):
                start = time.perf_counter()
                session.set("text_a", new_sentence(chance))
                if number >= 3:  # the first ones fill caches
                    ready.set()
                    seconds.append(time.perf_counter() - start)
                if ended.wait(0.1):
                    return

    thread = threading.Thread(target=edit, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield seconds
    finally:
        ended.set()
        thread.join()


def read(url: str, reading: Reading, content: bytes) -> float:
    """Upload a table and let its page read it; return how many seconds the reading took.

    Raises:
        RuntimeError: If the server refused it.
    """
    with Session(url) as session:
        session.open(*reading.page.split("?"))
        status, said = UploadClient(url).send(
            session.id, "file", content, file_name=reading.file_name
        )
        if status != 204:
            raise RuntimeError(f"the server did not take {reading.file_name}: {status} {said}")
        start = time.perf_counter()
        session.attach(reading.box, "file", reading.file_name)
        # The other pages go on to compute with what they have read.
        while reading.page == TRAINING and session.progress and not _has_arrived(session):
            time.sleep(0.5)
            session.tick()
        if session.errors:
            raise RuntimeError(f"{reading.file_name} was refused: {session.errors[0]}")
        return time.perf_counter() - start


def _has_arrived(session: Session) -> bool:
    return any(name.startswith("arrived_") for name in session.containers)


def _rows(number: int) -> Iterator[dict[str, str]]:
    chance = random.Random(1)
    for row in range(number):
        yield {"text": f"{new_sentence(chance)} {row}", "label": ("good", "bad")[row % 2]}


def _csv(scale: float) -> bytes:
    lines = (f'"{row["text"]}, {row["text"]}",{row["label"]}\n' for row in _rows(int(4e5 * scale)))
    return ("text,label\n" + "".join(lines)).encode()


def _many_rows(scale: float) -> bytes:
    return b"text,label\n" + b"a film about a river,good\nnot that one,bad\n" * int(5e5 * scale)


def _json(scale: float) -> bytes:
    rows = [{**row, "more": [{"a": [1, {"b": 2}]}]} for row in _rows(int(4e5 * scale))]
    return json.dumps({"data": rows}).encode()


def _pairs(scale: float) -> bytes:
    lines = (
        f"{row['text']}\t{row['text']} not\t{row['label']}\n" for row in _rows(int(4e5 * scale))
    )
    return ("good\tbad\tgroup\n" + "".join(lines)).encode()


def _parquet(scale: float) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([*_rows(int(1e6 * scale))]), out)
    return out.getvalue()


READINGS = (
    Reading("CSV, to learn from", "a.csv", TRAINING, "table_upload", _csv),
    Reading("pairs, TSV", "a.tsv", "grammar?grammar_source=file", "grammar_upload", _pairs),
    Reading("1,000,000 rows, to learn from", "a.csv", TRAINING, "table_upload", _many_rows),
    Reading("nested JSON, to learn from", "a.json", TRAINING, "table_upload", _json),
    Reading("Parquet, to learn from", "a.parquet", TRAINING, "table_upload", _parquet),
    Reading(
        "nested JSON, mapped",
        "a.json",
        "layer-map?map_source=file&map_method=pca",
        "map_upload",
        _json,
    ),
)
