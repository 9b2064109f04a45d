"""Open files of examples, compressed or not, and handle invalid rows."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO, TypeVar

from bertcore.data import packed_files
from bertcore.data.encodings import Encoding, find_encoding

LONGEST_LINE = 10_000_000
"""Characters of a line or cell; a longer one is no example but a broken file."""
MAX_COLUMNS = 2000
"""Of a table: twice as many as the labels that can be learned."""
MAX_WORDS = 20_000
"""Of a sentence; one with more lacks its blank line, and would fill the memory."""
T = TypeVar("T")


class Limits(NamedTuple):
    """How many rows or lines, and characters, of a file are looked at to see what it is."""

    num: int
    size: int


@contextmanager
def open_text(
    path: Path, file: BinaryIO | None = None, encoding: Encoding | None = None
) -> Iterator[TextIO]:
    """Open text, plain or compressed (`packed_files`), with unchanged line endings.

    Bytes that the encoding does not define become lone surrogates, which `Encoding.damage` finds
    and `lines_of` refuses.

    Args:
        file: The same file, already open, at its beginning; its position shows how far it has been
            read.
        encoding: None finds it.

    Raises:
        ValueError: As `find_encoding`, or if there is no such file, or UTF-16 or UTF-32 is damaged.
        OSError: If it cannot be opened.
    """
    if file is None:
        check_file(path)
    encoding = encoding or find_encoding(path, file)
    opened = packed_files.open_bytes(path, file)
    try:
        with io.TextIOWrapper(opened, encoding.name, "surrogateescape", newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data file {str(path)!r} was read as {encoding.title}, but is damaged "
            f"({error.reason}). Save it as UTF-8."
        ) from error


def check_file(path: Path) -> None:
    """Raise ValueError if a path is no file."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise ValueError(f"data file {str(path)!r} {what}. Check the path.")


def kind_of(path: Path) -> str:
    """Return the extension of a file's content, without that of its compression: ".tsv"."""
    name = path.name.lower()
    for packed in packed_files.SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


def whole_lines(
    file: TextIO, path: Path, *, start: int = 1, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines with their ends, the next one of which has the number `start`.

    ValueError if one is longer: an endless line would fill the memory.
    """
    lines = iter(partial(file.readline, longest + 1), "")
    for number, line in enumerate(lines, start):
        if len(line) > longest:
            raise ValueError(
                f"line {number} of {str(path)!r} has more than {longest:,} characters. "
                "Is it the right file?"
            )
        yield line


def lines_of(
    file: TextIO, path: Path, *, bad_rows: BadRows | None = None, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines without their ends.

    Args:
        bad_rows: Collects lines with a byte that no text has; None refuses them.

    ValueError as `whole_lines`, or for such a line.
    """
    encoding = Encoding(file.encoding)
    for number, line in enumerate(whole_lines(file, path, longest=longest), start=1):
        if not (damage := encoding.damage([line])):
            yield line.rstrip("\r\n")
        elif bad_rows is None:
            raise ValueError(f"line {number} of {str(path)!r} {damage}. Correct it.")
        else:
            bad_rows.add(f"line {number} of {str(path)!r} {damage}.")


def first_items(items: Iterable[T], size: Callable[[T], int], limits: Limits) -> list[T]:
    """Return the first items, at least one, until one of the limits is reached."""
    first: list[T] = []
    total = 0
    for item in items:
        first.append(item)
        total += size(item)
        if len(first) >= limits.num or total >= limits.size:
            break
    return first


def check_width(num_columns: int, table: str) -> None:
    """Refuse a table, called so in the message, of more than MAX_COLUMNS columns by ValueError."""
    if num_columns > MAX_COLUMNS:
        raise ValueError(
            f"{table} has {num_columns:,} columns; expected at most {MAX_COLUMNS:,}. Check "
            "that rows end with line breaks, or keep only the columns to use."
        )


def listed_columns(names: Sequence[str]) -> str:
    """Return the first names, quoted and shortened, for a message."""
    quoted = ", ".join(repr(name[:40]) for name in names[:20])
    return quoted + (f" and {len(names) - 20} more" if len(names) > 20 else "")


@dataclass(slots=True, kw_only=True, eq=False)
class BadRows:
    """What to do with an invalid example: reject the file, or count the example and continue.

    Readers also put there what is to be known of how they read the file.
    """

    skip: bool = False
    """Count and continue."""
    num: int = 0
    first: str = ""
    unlabelled: Counter[str] = field(default_factory=Counter)
    """Examples that were left out because they have no label, by what stands there."""
    _notes: dict[str, None] = field(default_factory=dict)

    def become(self, other: BadRows) -> None:
        """Take over all that another one has collected."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    def add(self, sentence: str) -> None:
        """Record an invalid row by a sentence with its place; ValueError unless it is skipped."""
        if not self.skip:
            raise ValueError(f"{sentence} Correct it, or skip such rows with --skip-bad-rows.")
        self.num += 1
        self.first = self.first or sentence

    def add_unlabelled(self, mark: str) -> None:
        """Record an example without a label, which is left out; "" if nothing stands there."""
        self.unlabelled[mark] += 1

    def note(self, sentence: str) -> None:
        """Record how the file was read, once."""
        self._notes[sentence] = None

    def sentence(self) -> str | None:
        """Return a sentence on the rows left out; None if there are none."""
        rows = "row was" if self.num == 1 else "rows were"
        said = f"{self.num:,} bad {rows} left out; the first: {self.first}"
        return said if self.num else None

    def notes(self) -> list[str]:
        """Return all that is to be said of the file, a sentence each."""
        num = self.unlabelled.total()
        marks = [f"{count:,} {mark or 'empty'}" for mark, count in self.unlabelled.most_common(4)]
        left = "1 example has no label and was" if num == 1 else f"{num:,} examples have no label"
        left += "" if num == 1 else " and were"
        said = [self.sentence(), f"{left} left out ({', '.join(marks)})." if num else None]
        return [*filter(None, said), *self._notes]

    def why_empty(self) -> str:
        """Return why no example is left, to follow a sentence that says so."""
        num = self.unlabelled.total()
        if not num:
            return self.first or "Check the file."
        return (
            f"{num:,} have no label ({', '.join(mark or 'empty' for mark in self.unlabelled)}), as "
            "in test splits whose labels are kept secret. Use another split, or check the column."
        )
