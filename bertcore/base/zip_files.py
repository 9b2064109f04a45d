"""Zip files of strangers, whose list of entries is bounded before `zipfile` reads it."""

from __future__ import annotations

from typing import IO, Any, cast
from zipfile import ZipFile

MOST_AT_ONCE = 1 << 18
"""Bytes that are read of the file at once; `zipfile` reads the list of all entries so, whatever
number of them it claims. One of 500 entries with long names has half of that."""


class LongListError(ValueError):
    """A list of entries is longer than that of any archive that is to be read here."""


class _File:
    """A file of which at most MOST_AT_ONCE is read at once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(MOST_AT_ONCE + 1 if size < 0 else min(size, MOST_AT_ONCE + 1))
        if len(block) > MOST_AT_ONCE:
            raise LongListError(f"a list of more than {MOST_AT_ONCE:,} bytes")
        return block


def open_zip(file: IO[bytes]) -> ZipFile:
    """Open a zip file whose entries are then read in parts of at most MOST_AT_ONCE.

    Raises:
        LongListError: If it has far too many entries.
        BadZipFile: If it is no zip file, or its list of entries is damaged.
    """
    return ZipFile(cast(IO[bytes], _File(file)))
