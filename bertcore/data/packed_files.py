"""Open files, plain or compressed as .xz or .gz."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO, TextIO, cast

SUFFIXES = (".xz", ".gz")
NOT_WHOLE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""Raised while reading a file that is truncated, damaged, or not of the type its name claims."""


def open_bytes(path: Path, file: BinaryIO | None = None) -> BinaryIO:
    """Open a file for reading, unpacked if its name ends in one of SUFFIXES.

    Args:
        path: Its suffix, in any case, determines how it is unpacked.
        file: The same file, already open.

    Raises:
        OSError: If it cannot be opened. Errors in an archive are raised while it is read, as one
            of NOT_WHOLE.
    """
    suffix = path.suffix.lower()
    if suffix == ".xz":
        return cast(BinaryIO, lzma.open(file or path, "rb"))
    if suffix == ".gz":
        return cast(BinaryIO, gzip.open(file or path, "rb"))
    return file or path.open("rb")


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
