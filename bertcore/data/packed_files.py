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
from typing import Any, BinaryIO, TextIO, cast

SUFFIXES = (".xz", ".gz")
NOT_WHOLE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""Raised while reading a file that is truncated, damaged, or not of the type its name claims."""
MAX_RATIO = 200
"""Unpacked bytes of a packed one; tables and texts have 3 to 50."""
FREE_BYTES = 32 * 2**20
"""Unpacked bytes that are read at any ratio."""
_BLOCK = 1 << 16
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
    """A file whose reading is watched, and ends with an error beyond a number of bytes."""

    def __init__(self, file: BinaryIO, most: float, path: Path) -> None:
        self._file, self._most, self._path = file, most, path
        self._watch, self._num = _on_block.get(), 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        if self._watch is not None:
            self._watch()
        block = self._file.read(len(buffer))
        self._num += len(block)
        if self._num > self._most:
            raise ValueError(
                f"{str(self._path)!r} unpacks to more than {self._most / 2**20:,.0f} MiB, "
                f"{MAX_RATIO} times its size, which no table or text does. Give the unpacked file "
                "if it is the right one."
            )
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def open_bytes(path: Path, file: BinaryIO | None = None) -> BinaryIO:
    """Open a file for reading, unpacked if its name ends in one of SUFFIXES.

    Args:
        path: Its suffix, in any case, determines how it is unpacked.
        file: The same file, already open.

    Raises:
        OSError: If it cannot be opened. Errors in an archive are raised while it is read, as one
            of NOT_WHOLE, and a ValueError if it unpacks to more than MAX_RATIO times its size.
    """
    suffix, most = path.suffix.lower(), inf
    if suffix in SUFFIXES:
        most = max(FREE_BYTES, MAX_RATIO * (_size(file) if file else path.stat().st_size))
        unpack = lzma.open if suffix == ".xz" else gzip.open
        opened = cast(BinaryIO, unpack(file or path, "rb"))
    else:
        opened = file or path.open("rb")
        if _on_block.get() is None:
            return opened
    return io.BufferedReader(_Blocks(opened, most, path), _BLOCK)


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
) -> TextIO:
    """Open UTF-8 text as `open_bytes` does, without the byte order mark that some editors write.

    Args:
        path, file: As for `open_bytes`.
        newline: As for `open`; "" keeps line endings as they are, which `csv` needs.
        encoding: The encoding, for text that is not UTF-8.
    """
    return io.TextIOWrapper(open_bytes(path, file), encoding=encoding, newline=newline)
