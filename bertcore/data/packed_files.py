"""Open files, plain or packed: gzip, bzip2, xz, or a zip archive of one file."""

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
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile, ZipFile

SUFFIXES = (".xz", ".gz", ".bz2", ".zip")
MAX_RATIO = 200
"""Unpacked bytes of a packed one; tables and texts have 3 to 50."""
FREE_BYTES = 32 * 2**20
"""Unpacked bytes that are read at any ratio."""
_BLOCK = 1 << 16
_LONGEST_LIST = 1 << 18
"""Bytes of a zip archive's list of files, which `zipfile` would read whole, however long it is."""
_DAMAGE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error, BadZipFile)
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}
"""By the first bytes."""
_on_block: ContextVar[Callable[[], object] | None] = ContextVar("on_block", default=None)


@contextmanager
def watched(on_block: Callable[[], object]) -> Iterator[None]:
    """Call a function, which may raise to stop, before each block that is read inside."""
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


def most_unpacked(num_bytes: int) -> int:
    """Return how many bytes a packed file may hold."""
    return max(FREE_BYTES, MAX_RATIO * num_bytes)


def bomb(path: Path, most: float) -> ValueError:
    """Return the error of a file that unpacks to more than it may."""
    return ValueError(
        f"{str(path)!r} unpacks to more than {most / 2**20:,.0f} MiB, {MAX_RATIO} times its size, "
        "which no table or text does. Give the unpacked file if it is the right one."
    )


def open_bytes(path: Path, file: BinaryIO | None = None) -> BinaryIO:
    """Open a file for reading, unpacked if its first bytes are those of an archive.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning; its caller closes it.

    ValueError, also while it is read, if it is a zip archive of several files, not whole, or
    unpacks to more than MAX_RATIO times its size; OSError if it cannot be opened.
    """
    plain = file or path.open("rb")
    try:
        size = plain.seek(0, io.SEEK_END)
        plain.seek(0)
        with _sentences(path):
            opened = _unpacked(path, plain)
    except BaseException:
        if file is None:
            plain.close()
        raise
    if opened is plain and file is None and not is_watched():
        return plain
    most = inf if opened is plain else most_unpacked(size)
    to_close = [each for each in (opened, plain) if each is not file]
    return io.BufferedReader(_Blocks(opened, path, most, to_close), _BLOCK)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Raise the errors of a truncated or damaged archive as a sentence."""
    try:
        yield
    except (*_DAMAGE, OSError) as error:
        if getattr(error, "errno", None) is not None:  # bz2 reports damage as an OSError
            raise
        why = f"is not a whole archive ({error}). Copy it again."
        raise ValueError(f"{str(path)!r} {why}") from error


class _Blocks(io.RawIOBase):
    """A file whose reading is watched, and ends with an error beyond a number of bytes."""

    def __init__(self, file: BinaryIO, path: Path, most: float, to_close: list[BinaryIO]) -> None:
        self._file, self._path, self._most, self._to_close = file, path, most, to_close
        self._watch, self._num = _on_block.get(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        if self._watch is not None:
            self._watch()
        with _sentences(self._path):
            block = self._file.read(len(buffer))
        self._num += len(block)
        if self._num > self._most:
            raise bomb(self._path, self._most)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        for file in self._to_close:
            file.close()
        super().close()


class _ShortReads:
    """A file of which at most _LONGEST_LIST bytes are read at once."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(_LONGEST_LIST + 1 if size < 0 else min(size, _LONGEST_LIST + 1))
        if len(block) > _LONGEST_LIST:
            raise ValueError(
                f"{str(self._path)!r} is a zip archive of thousands of files; one can be read. "
                "Unzip it and give that."
            )
        return block


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    head = file.read(10)
    file.seek(0)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic) and (magic != b"BZh" or b"1AY&SY" in head):
            return cast(BinaryIO, opener(file))
    if not head.startswith(b"PK\3\4"):
        return file
    with ZipFile(cast(BinaryIO, _ShortReads(file, path))) as archive:
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
