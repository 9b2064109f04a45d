"""Open files, plain or compressed: gzip, bzip2, xz, or a zip archive of one file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, cast
from zipfile import BadZipFile

from bertcore.base.zip_files import LongListError, open_zip

SUFFIXES = (".xz", ".gz", ".bz2", ".zip")
NOT_WHOLE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error, BadZipFile)
"""Raised while reading a file that is truncated or damaged."""
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


def is_watched() -> bool:
    """Return whether this is inside of `watched`."""
    return _on_block.get() is not None


def look() -> None:
    """Call the function of `watched`, if this is inside of it."""
    watch = _on_block.get()
    if watch is not None:
        watch()


class _Blocks(io.RawIOBase):
    """A file whose reading is watched, and ends with an error beyond a number of bytes or lines."""

    def __init__(
        self, file: BinaryIO, path: Path, *, packed: float, most: Most, to_close: list[BinaryIO]
    ) -> None:
        self._file, self._path, self._to_close = file, path, to_close
        self._packed, self._most = packed, most
        self._watch, self._num = _on_block.get(), 0
        self._breaks = {b"\n": 0, b"\r": 0}

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        if self._watch is not None:
            self._watch()
        try:
            block = self._file.read(len(buffer))
        except OSError as error:
            if error.errno is None:  # as bz2 reports damage
                raise EOFError(str(error)) from error
            raise
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
        for file in self._to_close:
            file.close()
        super().close()


def open_bytes(path: Path, file: BinaryIO | None = None, most: Most = UNBOUNDED) -> BinaryIO:
    """Open a file for reading, unpacked if its first bytes are those of an archive.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning; its caller closes it.
        most: How much is read.

    Raises:
        ValueError: If it is a zip archive of several files.
        OSError: If it cannot be opened. Errors in an archive are raised while it is read, as one
            of NOT_WHOLE, and a ValueError if it unpacks to more than MAX_RATIO times its size, or
            has more than `most`.
    """
    plain = file or path.open("rb")
    try:
        head = plain.read(10)
        plain.seek(0)
        opened = _unpacked(path, plain, head)
        if opened is not plain:
            packed: float = max(FREE_BYTES, MAX_RATIO * _size(plain))
        elif file is None and _on_block.get() is None and most == UNBOUNDED:
            return plain
        else:
            packed = inf
    except BaseException:
        if file is None:
            plain.close()
        raise
    to_close = [each for each in (opened, plain) if each is not file]
    return io.BufferedReader(
        _Blocks(opened, path, packed=packed, most=most, to_close=to_close), _BLOCK
    )


def bounded(opened: BinaryIO, path: Path, most: Most) -> BinaryIO:
    """Return an open file of which at most `most` is read, watched; closing it closes that."""
    blocks = _Blocks(opened, path, packed=inf, most=most, to_close=[opened])
    return io.BufferedReader(blocks, _BLOCK)


def _unpacked(path: Path, file: BinaryIO, head: bytes) -> BinaryIO:
    if head.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.open(file, "rb"))
    if head.startswith(b"\xfd7zXZ\0"):
        return cast(BinaryIO, lzma.open(file, "rb"))
    if re.match(rb"BZh[1-9]1AY&SY", head):
        return cast(BinaryIO, bz2.open(file, "rb"))
    if not head.startswith(b"PK\3\4"):
        return file
    try:
        archive = open_zip(file)
    except LongListError as error:
        raise ValueError(
            f"{str(path)!r} is a zip archive of thousands of files; one can be read. Unzip it and "
            "give that."
        ) from error
    with archive:
        members = [
            member
            for member in archive.infolist()
            if not (member.is_dir() or re.search(r"(^|/)(\.|__MACOSX/)", member.filename))
        ]
        names = [member.filename for member in members]
        if "[Content_Types].xml" in names or "mimetype" in names:  # of an office
            file.seek(0)
            return file
        if len(members) != 1:
            listed = ", ".join(repr(name[:40]) for name in names[:5])
            raise ValueError(
                f"{str(path)!r} is a zip archive of {len(names)} files ({listed}"
                f"{', ...' if len(names) > 5 else ''}); one can be read. Unzip it and give that."
            )
        try:
            return cast(BinaryIO, archive.open(members[0]))
        except (RuntimeError, NotImplementedError) as error:
            raise ValueError(f"{str(path)!r} cannot be unpacked ({error}). Unzip it.") from error


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
