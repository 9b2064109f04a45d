"""Open files of examples, packed or not, and handle invalid rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bertcore import packed_files

LONGEST_LINE = 10_000_000
"""Characters of a line or cell; a longer one is no example but a broken file."""


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open UTF-8 text, plain or packed as .xz or .gz, with unchanged line ends.

    Errors while reading are raised as sentences too.

    Raises:
        ValueError: If there is no such file, it is not UTF-8, or not a whole archive.
        OSError: If it cannot be opened.
    """
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise ValueError(f"data file {str(path)!r} {what}. Check the path.")
    try:
        with packed_files.open_text(path, newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data file {str(path)!r} is not UTF-8: it holds a byte "
            f"0x{error.object[error.start]:02X}. Save it as UTF-8."
        ) from error
    except packed_files.NOT_WHOLE as error:
        raise ValueError(
            f"data file {str(path)!r} is not a whole archive ({error}). Copy it again."
        ) from error


def kind_of(path: Path) -> str:
    """Return the ending that says what is in a file, without that of its packing: ".tsv"."""
    name = path.name.lower()
    for packed in packed_files.SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


def lines_of(file: TextIO, path: Path) -> Iterator[str]:
    """Yield lines without their ends.

    Raises:
        ValueError: If one is endless, which would fill the memory.
    """
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise ValueError(
                f"line {number} of {str(path)!r} has more than {LONGEST_LINE:,} characters. "
                "Is it the right file?"
            )
        yield line.rstrip("\r\n")


class BadRows:
    """What to do with an invalid example: refuse the file, or count it and go on.

    Args:
        skip: Count and go on.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.skip = skip
        self.num = 0
        self.first = ""

    def add(self, sentence: str) -> None:
        """Record an invalid row, described by a sentence with file and row.

        Raises:
            ValueError: Unless rows are to be skipped.
        """
        if not self.skip:
            raise ValueError(f"{sentence} Correct it, or leave such rows out with --skip-bad-rows.")
        self.num += 1
        self.first = self.first or sentence

    def sentence(self) -> str | None:
        """Return a sentence on what was left out; None if nothing was."""
        if not self.num:
            return None
        rows = "row was" if self.num == 1 else "rows were"
        return f"{self.num:,} bad {rows} left out; the first: {self.first}"
