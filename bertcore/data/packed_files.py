"""Open files, plain or compressed as .xz or .gz."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, cast

SUFFIXES = (".xz", ".gz")
NOT_WHOLE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""Raised while reading a file that is truncated, damaged, or not of the type its name claims."""
MAX_RATIO = 200
"""Unpacked bytes of a packed one; tables and texts have 3 to 50."""
FREE_BYTES = 32 * 2**20
"""Unpacked bytes that are read at any ratio."""
_BLOCK = 1 << 16


class Most(NamedTuple):
    """How much of a file's content is read before it is refused."""

    num_bytes: float = inf
    num_lines: float = inf

    def sentence(self, path: Path, what: str) -> str:
        """Return the refusal of a file that has more."""
        return f"{str(path)!r} has more than {what}, the most that are read. Give a part of it."


UNBOUNDED = Most()
_on_block: ContextVar[Callable[[], object] | None] = ContextVar("on_block", default=None)


@contextmanager
def watched(on_block: Callable[[], object]) -> Iterator[None]:
    """Call a function before each block that is read of files opened inside, in this thread.

    Args:
        on_block: May raise to stop.
    """
    token = _on_block.set(on_block)
    try:
        yield
    finally:
        _on_block.reset(token)


class _Blocks(io.RawIOBase):
    """A file whose reading is watched, and ends with an error beyond a number of bytes or lines."""

    def __init__(
        self, file: BinaryIO, path: Path, *, packed: float, most: Most, closes: bool
    ) -> None:
        self._file, self._path, self._closes = file, path, closes
        self._packed, self._most = packed, most
        self._watch, self._num = _on_block.get(), 0
        self._breaks = {b"\n": 0, b"\r": 0}

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        if self._watch is not None:
            self._watch()
        block = self._file.read(len(buffer))
        self._num += len(block)
        if self._num > self._packed:
            raise ValueError(
                f"{str(self._path)!r} unpacks to more than {self._packed / 2**20:,.0f} MiB, "
                f"{MAX_RATIO} times its size, which no table or text does. Give the unpacked file "
                "if it is the right one."
            )
        if self._num > self._most.num_bytes:
            raise ValueError(self._most.sentence(self._path, f"{self._most.num_bytes:,} bytes"))
        if self._most.num_lines < inf:
            for end in self._breaks:
                self._breaks[end] += block.count(end)
            if max(self._breaks.values()) > self._most.num_lines:
                raise ValueError(self._most.sentence(self._path, f"{self._most.num_lines:,} lines"))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if self._closes and not self.closed:
            self._file.close()
        super().close()


def open_bytes(path: Path, file: BinaryIO | None = None, most: Most = UNBOUNDED) -> BinaryIO:
    """Open a file for reading, unpacked if its name ends in one of SUFFIXES.

    Args:
        path: Its suffix, in any case, determines how it is unpacked.
        file: The same file, already open; its caller closes it.
        most: How much is read.

    Raises:
        OSError: If it cannot be opened. Errors in an archive are raised while it is read, as one
            of NOT_WHOLE, and a ValueError if it unpacks to more than MAX_RATIO times its size, or
            has more than `most`.
    """
    suffix, packed = path.suffix.lower(), inf
    if suffix in SUFFIXES:
        packed = max(FREE_BYTES, MAX_RATIO * (_size(file) if file else path.stat().st_size))
        unpack = lzma.open if suffix == ".xz" else gzip.open
        opened = cast(BinaryIO, unpack(file or path, "rb"))
    else:
        opened = file or path.open("rb")
        if file is None and _on_block.get() is None and most == UNBOUNDED:
            return opened
    closes = opened is not file
    return io.BufferedReader(_Blocks(opened, path, packed=packed, most=most, closes=closes), _BLOCK)


def _size(file: BinaryIO) -> int:
    place = file.tell()
    size = file.seek(0, io.SEEK_END)
    file.seek(place)
    return size


def open_text(
    path: Path,
    file: BinaryIO | None = None,
    *,
    newline: str | None = None,
    encoding: str = "utf-8-sig",
    most: Most = UNBOUNDED,
) -> TextIO:
    """Open UTF-8 text as `open_bytes` does, without the byte order mark that some editors write.

    Args:
        path, file, most: As for `open_bytes`.
        newline: As for `open`; "" keeps line endings as they are, which `csv` needs.
        encoding: The encoding, for text that is not UTF-8.
    """
    return io.TextIOWrapper(open_bytes(path, file, most), encoding=encoding, newline=newline)
