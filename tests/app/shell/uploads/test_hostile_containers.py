"""Containers of tables that lie, or unpack to far more than they are: uploaded, and by command.

Each ends in a sentence, or in what it holds; none takes seconds, much memory, or this process.
"""

import gzip
import io
import os
import re
import struct
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.shell.uploads import on_disk
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import open_table

ROWS = b"text,label\n" + b"a,b\n" * 1000
MOST = 50_000_000
SECONDS = 20.0
"""Of one container, on a busy machine; each takes about one."""
MEMORY = 300e6
"""Bytes by which this process may grow."""


def zipped(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries:
            with target.open(name, "w", force_zip64=True) as file:
                file.write(content)
    return out.getvalue()


def lying(num_bytes: int) -> bytes:
    """A zip64 file whose member claims another size, in both of its headers."""
    content = bytearray(zipped(("a.csv", ROWS)))
    struct.pack_into("<Q", content, content.find(b"PK\3\4") + 30 + 5 + 4, num_bytes)
    struct.pack_into("<L", content, content.rfind(b"PK\1\2") + 24, min(num_bytes, 2**32 - 2))
    return bytes(content)


def overlapping() -> bytes:
    """Two entries of the list that lie at one place."""
    content = zipped(("a.csv", ROWS))
    start, end = content.rfind(b"PK\1\2"), content.rfind(b"PK\5\6")
    entry = content[start:end]
    tail = bytearray(content[end:])
    struct.pack_into("<HHLL", tail, 8, 2, 2, 2 * len(entry), start)
    return content[:start] + entry * 2 + bytes(tail)


def many() -> bytes:
    """A zip file of 10,000 empty files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for number in range(10_000):
            target.writestr(zipfile.ZipInfo(f"{number}"), b"")
    return out.getvalue()


def parquet(table: pa.Table, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, **options)
    return out.getvalue()


def arrow(batch: pa.RecordBatch, **options: Any) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, batch.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_batch(batch)
    return out.getvalue()


def one_value(num_rows: int) -> pa.Table:
    """A table of one text, many times."""
    ids = pa.array(np.zeros(num_rows, dtype=np.int8))
    return pa.table({"text": pa.DictionaryArray.from_arrays(ids, ["a film"])})


def many_rows() -> bytes:
    """A Parquet file of twenty million rows in some kilobytes."""
    table, out = one_value(2 * 10**6), io.BytesIO()
    with pq.ParquetWriter(out, table.schema) as writer:
        for _ in range(10):
            writer.write_table(table, row_group_size=2 * 10**6)
    return out.getvalue()


def nested(depth: int) -> pa.RecordBatch:
    kind = pa.int8()
    for _ in range(depth):
        kind = pa.list_(kind)
    return pa.RecordBatch.from_arrays([pa.nulls(3, kind)], ["text"])


def false_offsets() -> bytes:
    """Texts of which one claims to lie a gigabyte behind its buffer."""
    texts = ["a" * 12_345, "b" * 12_345, "c"]
    content = arrow(pa.RecordBatch.from_arrays([pa.array(texts)], ["text"]))
    true = np.array([0, 12_345, 24_690, 24_691], dtype=np.int32)
    assert content.count(true.tobytes()) == 1
    false = np.array([0, 12_345, 10**9, 10**9 + 40], dtype=np.int32)
    return content.replace(true.tobytes(), false.tobytes())


def false_size() -> bytes:
    """A compressed buffer that claims to unpack to a terabyte."""
    size = 30_000_000
    batch = pa.RecordBatch.from_arrays([pa.array(np.zeros(size, dtype=np.int8))], ["text"])
    content = arrow(batch, compression="zstd")
    assert content.count(struct.pack("<q", size)) > 0
    return content.replace(struct.pack("<q", size), struct.pack("<q", 2**40))


def workbook() -> bytes:
    """An Excel file with a gigabyte of strings, and entities that grow a billion times."""
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    entities = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "lol">{laughs}]><l>&l9;</l>'
    sheet = '<worksheet><dimension ref="A1:XFD1048576"/></worksheet>'
    return zipped(
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/workbook.xml", entities.encode()),
        ("xl/sharedStrings.xml", b" " * 100_000_000),
        ("xl/worksheets/sheet1.xml", sheet.encode()),
    )


CONTAINERS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a member of 4 GB": ("a.zip", lambda: lying(2**33), ""),
    "a zip in few bytes": (
        "a.zip",
        lambda: zipped(("a.csv", b" " * 40_000_000)),
        "unpacks to more than 32 MiB",
    ),
    "entries at one place": ("a.zip", overlapping, "zip archive of 2 files"),
    "many entries": ("a.zip", many, "zip archive of thousands of files"),
    "gzip of gzip": (
        "a.csv.gz",
        lambda: gzip.compress(gzip.compress(b" " * 10**7) * 20),
        "200 times its size|is not text",
    ),
    "rows of one value": (
        "a.parquet",
        many_rows,
        "unpacks to more than 32 MiB|at most 20,000 rows",
    ),
    "lists in lists": (
        "a.parquet",
        lambda: parquet(pa.Table.from_batches([nested(300)])),
        "cannot be read as Parquet|^$",
    ),
    "false offsets": ("a.arrow", false_offsets, "cannot be read as Arrow"),
    "a false size": ("a.arrow", false_size, "cannot be read as Arrow"),
    "a workbook": ("a.xlsx", workbook, "Excel workbook"),
}


def read(path: Path) -> None:
    guess(path)
    with open_table(path, BadRows(skip=True)) as table:
        for _ in table.rows:
            pass


def by_command(path: Path, content: bytes) -> str:
    """Read a file as a command does; return what is said of it."""
    path.write_bytes(content)
    try:
        read(path)
    except ValueError as error:
        return str(error)
    return ""


def uploaded(name: str, content: bytes) -> str:
    """Send a file as a visitor does; return what is said of it."""
    try:
        copy = on_disk.write_copy(name, content, MOST, "Give a part.")
        read(copy.path)
    except ValueError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_hostile_container_ends_in_a_sentence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disk, "_copies", lambda: tmp_path / "copies")
    monkeypatch.setattr(on_disk, "MAX_LINES", 20_000)
    (tmp_path / "copies").mkdir()
    name, make, said = CONTAINERS[kind]
    content, process = make(), psutil.Process()
    before, start = process.memory_info().rss, time.monotonic()
    others = {*process.children()}  # what tests before this one started
    with ThreadPoolExecutor(2) as threads:
        command = threads.submit(by_command, tmp_path / name, content)
        sent = threads.submit(uploaded, name, content)
    for sentence in (command.result(), sent.result()):
        assert re.search(said or "^$", sentence), sentence
    assert time.monotonic() - start < SECONDS
    assert process.memory_info().rss - before < MEMORY
    assert not [*(tmp_path / "copies").iterdir()] or not said
    assert {*process.children()} <= others or os.name == "nt"
