"""Parquet and Arrow files as JSON lines, written by a process of its own with limits.

A file of a few kilobytes can unpack to more than the memory, or crash the library that reads it;
this ends that process and not the caller's.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from bertcore.base.process_limits import limit_process
from bertcore.data.files import check_width

MAX_BYTES = 2**31
"""Of memory, besides that of the libraries."""
_SECONDS, _BYTES_A_SECOND = 60, 1_000_000
"""Of processor time: those of any file, and the bytes for each further one."""
_NO_TIME, _NO_MEMORY = (
    {getattr(signal, name, signal.SIGTERM) for name in names}
    for names in (("SIGXCPU",), ("SIGABRT", "SIGKILL"))
)
"""Signals that end a process at its limits."""
_ROWS_AT_ONCE = 256
_INDEX = re.compile(r"__index_level_\d+__")
"""Name of a column that pandas adds."""


def columnar_form(head: bytes) -> Literal["parquet", "arrow"] | None:
    """Return the form of a file that begins with some bytes; None for others."""
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    return "parquet" if head.startswith(b"PAR1") else None


def open_lines(path: Path, form: str, name: Path) -> BinaryIO:
    """Open a Parquet or Arrow file as UTF-8 with an object a line; binary cells become null.

    Args:
        form: "parquet" or "arrow".
        name: What to call it in messages.

    Raises:
        ValueError: While it is read, if it cannot be, or takes too much memory or time.
    """
    return io.BufferedReader(_Lines(path, form, name))


class _Lines(io.RawIOBase):
    """What the process writes; its failure is raised at the end."""

    def __init__(self, path: Path, form: str, name: Path) -> None:
        kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
        root = str(Path(__file__).resolve().parents[2])
        self._name, self._form = name, form
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bertcore.data.columnar", str(path.absolute()), form],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**kept, "PYTHONPATH": root, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"},
        )

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        assert self._process.stdout is not None
        block = self._process.stdout.read1(len(buffer))  # type: ignore[attr-defined]
        buffer[: len(block)] = block
        if not block and self._process.wait():
            raise ValueError(
                f"{str(self._name)!r} cannot be read as {self._form.title()} ({self._why()}). "
                "Copy it again, or save the table as CSV."
            )
        return len(block)

    def _why(self) -> str:
        assert self._process.stderr is not None
        lines = self._process.stderr.read(10_000).decode("utf-8", "replace").strip().splitlines()
        number = -self._process.returncode
        if lines and number == -1:
            return lines[-1][:300]
        if number in _NO_TIME:
            return "it takes more seconds of processor time than a table of its size"
        if number in _NO_MEMORY:
            return f"it takes more than {MAX_BYTES >> 30} GiB of memory"
        return f"it ended the process that read it with signal {number}"

    def close(self) -> None:
        if not self.closed:
            self._process.kill()
            self._process.communicate()
        super().close()


def main() -> None:
    """Write the rows of the file and form that the command names to standard output."""
    import pyarrow as pa

    path, form = sys.argv[1:]
    seconds = _SECONDS + os.stat(path).st_size // _BYTES_A_SECOND
    limit_process(num_bytes=MAX_BYTES, cpu_seconds=seconds)
    try:
        for batch in _batches(path, form):
            batch.validate(full=True)  # a file may claim that texts lie anywhere in the memory
            names = batch.schema.names
            check_width(len(names), "it")
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"it has the column {twice[:40]!r} several times")
            kept = batch.drop_columns([name for name in names if _INDEX.fullmatch(name)])
            for start in range(0, len(kept), _ROWS_AT_ONCE):  # some writers make one batch of all
                for row in kept.slice(start, _ROWS_AT_ONCE).to_pylist():
                    sys.stdout.write(json.dumps(row, default=_plain, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)
    except (pa.ArrowException, OSError, ValueError, MemoryError, RecursionError) as error:
        sys.exit(" ".join(str(error).split()) or type(error).__name__)


def _batches(path: str, form: str) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if form == "parquet":
        yield from pq.ParquetFile(path).iter_batches(_ROWS_AT_ONCE, use_threads=False)
        return
    with pa.OSFile(path) as source:
        if source.read(6) == b"ARROW1":
            reader = pa.ipc.open_file(path)
            yield from map(reader.get_batch, range(reader.num_record_batches))
        else:
            source.seek(0)
            yield from pa.ipc.open_stream(source)


def _plain(value: Any) -> Any:
    """Return a value that JSON lacks: text for times and readable bytes, a number for decimals."""
    if isinstance(value, bytes):
        with contextlib.suppress(UnicodeDecodeError):
            return value.decode()
        return None
    number = getattr(value, "as_integer_ratio", None)
    return str(value) if number is None else float(value)


if __name__ == "__main__":
    main()
