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
from typing import Any, BinaryIO, cast
from zipfile import BadZipFile

from bertcore.base.zip_files import LongListError, open_zip

SUFFIXES = (".xz", ".gz", ".bz2", ".zip")
MAX_RATIO = 200
"""Unpacked bytes of a packed one; tables and texts have 3 to 50."""
FREE_BYTES = 32 * 2**20
"""Unpacked bytes that are read at any ratio."""
_BLOCK = 1 << 16
_DAMAGE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error, BadZipFile)
"""Raised while reading a file that is truncated or damaged."""
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}
"""By the first bytes."""
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


def most_unpacked(num_bytes: int) -> int:
    """Return how many bytes a packed file may hold."""
    return max(FREE_BYTES, MAX_RATIO * num_bytes)


def bomb(path: Path, most: float) -> ValueError:
    """Return the error of a file that unpacks to more than it may."""
    return ValueError(
        f"{str(path)!r} unpacks to more than {most / 2**20:,.0f} MiB, {MAX_RATIO} times its size, "
        "which no table or text does. Give the unpacked file if it is the right one."
    )


def _not_whole(path: Path, error: Exception) -> ValueError:
    return ValueError(f"{str(path)!r} is not a whole archive ({error}). Copy it again.")


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
        try:
            block = self._file.read(len(buffer))
        except (*_DAMAGE, OSError) as error:
            if getattr(error, "errno", None) is None:  # bz2 reports damage as an OSError
                raise _not_whole(self._path, error) from error
            raise
        self._num += len(block)
        if self._num > self._most:
            raise bomb(self._path, self._most)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        for file in self._to_close:
            file.close()
        super().close()


def open_bytes(path: Path, file: BinaryIO | None = None) -> BinaryIO:
    """Open a file for reading, unpacked if its first bytes are those of an archive.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning; its caller closes it.

    Raises:
        ValueError: If it is a zip archive of several files, or damaged.
        OSError: If it cannot be opened.

    While it is read, a ValueError is raised if the archive is not whole, or unpacks to more than
    MAX_RATIO times its size.
    """
    plain = file or path.open("rb")
    try:
        opened = _unpacked(path, plain)
        if opened is plain and file is None and not is_watched():
            return plain
        most = inf
        if opened is not plain:
            place = plain.tell()
            most = most_unpacked(plain.seek(0, io.SEEK_END))
            plain.seek(place)
    except BaseException as error:
        if file is None:
            plain.close()
        if isinstance(error, _DAMAGE):
            raise _not_whole(path, error) from error
        raise
    to_close = [each for each in (opened, plain) if each is not file]
    return io.BufferedReader(_Blocks(opened, path, most, to_close), _BLOCK)


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    head = file.read(10)
    file.seek(0)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic) and (magic != b"BZh" or b"1AY&SY" in head):
            return cast(BinaryIO, opener(file))
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
