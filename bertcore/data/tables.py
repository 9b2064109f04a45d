"""Tables of examples, read row by row: CSV and its dialects, JSON, Parquet and Arrow."""

from __future__ import annotations

import io
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, dropwhile
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, Literal, TextIO

from bertcore.data import columnar, files, packed_files
from bertcore.data.dialects import (
    ONE_COLUMN,
    Delimiters,
    Record,
    find_marks,
    label_values,
    records,
    sep_line,
)
from bertcore.data.encodings import UTF8, Encoding, find_encoding
from bertcore.data.files import (
    BadRows,
    Limits,
    check_file,
    check_width,
    first_items,
    kind_of,
    open_text,
    whole,
    whole_lines,
)
from bertcore.data.json_tables import FORMS, Value, json_values
from bertcore.data.usual_columns import are_names

FIRST = Limits(1000, 1_000_000)
"""Rows that show what a table is."""
FIRST_CELLS = 200_000
"""Of them, in a wide table."""
JSON_LINES = (".jsonl", ".json", ".ndjson")
"""Endings of files of JSON, with an object a line or one value."""
ENDINGS = ("csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "arrow", "feather")
"""Usual endings of tables; each is read by its content."""
TABLE_FILES = (
    "CSV, TSV or text with any separator, JSON or JSON lines, Parquet, Arrow; also packed as .gz, "
    ".bz2, .xz or .zip"
)
"""What can be read, for captions."""
_NO_DATA = {
    b"version https://git-lfs": "a pointer of Git LFS to the file. Fetch this with git lfs pull",
    b"<!doctype html": "a web page. Download the file itself, such as by a link called raw",
    b"<html": "a web page. Download the file itself, such as by a link called raw",
    b"\x89png": "a picture, not text",
    b"\xff\xd8\xff": "a picture, not text",
    b"%pdf": "a PDF, not text. Save its text as UTF-8",
}
"""Beginnings of what is saved in place of a table, and what it is."""
_BLANK = "\ufeff \t\r\n\xa0"
_FAST_TEXT = re.compile(r"((?:__label__\S+[ ,]+)+)(.*)", re.DOTALL)
_LABEL_FIRST = re.compile(r"(\w{1,30}:\w{0,30})\s+(\S.*)", re.DOTALL)
"""A line of TREC: its label, with a colon in it or after it, and a text."""

Form = Literal["text", "json", "parquet", "arrow"]
HasHeader = Callable[[Sequence[str]], bool | None]
"""Called with the cells of the first line; returns whether they are names, or None where the rows
below decide."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number (the first below the header is 1) and its cells."""

    number: int
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a file becomes rows and columns."""

    form: str
    """"CSV", "JSON lines", ..."""
    marks: Delimiters | None = None
    """Of a table that is text."""
    encoding: Encoding = UTF8
    has_header: bool = True
    is_usual: bool = True
    """Whether the file's name says all of this, except for its header."""

    def describe(self) -> str:
        """Return a phrase, such as "semicolons between cells, no names of columns, UTF-8"."""
        parts = [self.form if self.marks is None else self.marks.describe()]
        if not self.has_header:
            parts.append("no names of columns")
        return ", ".join([*parts, self.encoding.title])


@dataclass(frozen=True, slots=True)
class Table:
    """An open table; `rows` can be iterated once."""

    columns: tuple[str, ...]
    """Names, or "1", "2", ... where there are none."""
    rows: Iterator[Row]
    has_header: bool
    first: tuple[Sequence[Any], ...] = ()
    """Cells of the first rows; at most FIRST and FIRST_CELLS."""
    dialect: Dialect = Dialect(form="JSON")


def always(cells: Sequence[str]) -> bool:
    """Return True: the first row has the names that a reader needs."""
    return True


def column_place(columns: Sequence[str], name: str, path: Path) -> int:
    """Return the place of a column, from 0; ValueError if two columns have that name."""
    places = [place for place, column in enumerate(columns) if column == name]
    if len(places) > 1:
        raise ValueError(
            f"{str(path)!r} has {len(places)} columns {name[:40]!r} "
            f"({' and '.join(str(place + 1) for place in places[:5])}), so it is not clear which "
            "one to read. Give each column its own name."
        )
    return places[0]


def form_of(path: Path, file: BinaryIO | None = None) -> Form:
    """Return the form of a table by its content; "json" also for JSON lines.

    Args:
        path: Its name; those of JSON decide for files that are text.
        file: The same file, already open, at its beginning, where it is left.

    ValueError if there is no such file, or it is no table.
    """
    if file is None:
        check_file(path)
    with whole(path), packed_files.open_bytes(path, file) as content:
        head = content.read(64)
    if file is not None:
        file.seek(0)
    form = columnar.columnar_form(head)
    if form is not None:
        return form
    kind = kind_of(path)
    what = next((what for start, what in _NO_DATA.items() if head.lower().startswith(start)), "")
    if what or kind in (".parquet", ".arrow", ".feather"):
        raise ValueError(f"{str(path)!r} is {what or f'no {kind} file, in spite of its name'}.")
    if kind in JSON_LINES:
        return "json"
    with whole(path):
        encoding = find_encoding(path, file)
    with open_text(path, file, encoding=encoding) as text:
        start = text.read(20_000).lstrip("\ufeff \t\r\n")
    if file is not None:
        file.seek(0)
    is_json = re.match(r'\[\s*[\[{]\s*"|\{\s*"[^"\n]*"\s*:', start) is not None
    return "json" if is_json else "text"


@contextmanager
def open_table(
    path: Path,
    bad_rows: BadRows,
    *,
    has_header: HasHeader = lambda cells: None,
    file: BinaryIO | None = None,
    most: packed_files.Most | None = None,
) -> Iterator[Table]:
    """Open a table by its content: text in any dialect and encoding, JSON, Parquet or Arrow.

    Separator and quotes are those that suit most of the first rows (`find_marks`). The cells of a
    TSV are read verbatim, including quotation marks, as in GLUE's files, unless nearly all that
    begin with one are quoted by the rules of CSV, as in files of spreadsheets and pandas.

    Args:
        path: The file.
        bad_rows: Collects rows with a different number of cells, and those that cannot be read; and
            a remark on a dialect that the file's name does not say.
        has_header: Decides from the first line whether it has names; where it does not, the rows
            below decide. Not used for objects of JSON, and columns of Parquet, which have names.
        file: The same file, already open, at its beginning; its position shows how far it has been
            read.
        most: As for `open_text`.

    ValueError if the file cannot be read, has no row or more than MAX_COLUMNS columns.
    """
    form = form_of(path, file)
    with ExitStack() as stack:
        if form in ("parquet", "arrow"):
            text, encoding = stack.enter_context(_columnar(path, file, form)), UTF8
        else:
            with whole(path):
                encoding = find_encoding(path, file)
            text = stack.enter_context(open_text(path, file, most, encoding))
        if form == "text":
            table = _text_table(text, path, encoding, bad_rows, has_header)
        else:
            table = _json_table(text, path, form, encoding, bad_rows, has_header)
        if not table.dialect.is_usual:
            bad_rows.note(f"{path.name!r} is read with {table.dialect.describe()}.")
        yield table


@contextmanager
def _columnar(path: Path, file: BinaryIO | None, form: str) -> Iterator[TextIO]:
    """Open a Parquet or Arrow file as JSON lines; one that is packed or has no path is copied."""
    with ExitStack() as stack:
        place = path
        if file is not None or kind_of(path) != path.suffix.lower():
            copy = stack.enter_context(NamedTemporaryFile(suffix=f".{form}"))
            with whole(path), packed_files.open_bytes(path, file) as content:
                shutil.copyfileobj(content, copy)
            copy.flush()
            place = Path(copy.name)
        lines = columnar.open_lines(place, form, path)
        opened = packed_files.bounded(lines, path, files.MOST_READ)
        yield stack.enter_context(io.TextIOWrapper(opened, "utf-8", newline="\n"))


def _size(cells: Iterable[Any]) -> int:
    """Return the characters of a row, counting as many of a cell as FIRST_CELLS allows."""
    return sum(FIRST.size // FIRST_CELLS + len(str(cell)) for cell in cells)


def _text_table(
    text: TextIO, path: Path, encoding: Encoding, bad_rows: BadRows, has_header: HasHeader
) -> Table:
    source: Iterator[str] = dropwhile(
        lambda line: not line.strip("\ufeff \t\r\n"), whole_lines(text, path)
    )
    start = first_items(source, len, FIRST)
    named = sep_line(start[0]) if start else None
    if named is not None:
        source, start = chain(start[1:], source), []
        start = first_items(source, len, FIRST)
    if not start:
        raise _empty(path)
    start[0] = start[0].lstrip("\ufeff")
    source, kind = chain(start, source), kind_of(path)
    if start[0].startswith("__label__"):
        dialect = Dialect(form="lines of fastText", encoding=encoding, is_usual=False)
        return _plain_table(map(_fast_text, source), 2, path, bad_rows, _no_header, dialect)
    marks = Delimiters(named, '"') if named is not None else find_marks(start, kind)
    if marks.separator == ONE_COLUMN and _are_labelled(start):
        dialect = Dialect(form="a label before each text", encoding=encoding, is_usual=False)
        return _plain_table(map(_label_first, source), 2, path, bad_rows, _no_header, dialect)
    rows = [record.cells for record in records(start, marks) if not record.wrong]
    for row in rows[:1]:
        check_width(len(row), repr(str(path)))
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    labels = label_values([row for row in rows if len(row) == width])
    found = records(source, marks, width, labels)
    if encoding.is_guessed or encoding.is_damaged:
        found = (_decoded(record, encoding) for record in found)
    usual = "," if kind == ".csv" else "\t"
    dialect = Dialect(
        form="text",
        marks=marks,
        encoding=encoding,
        is_usual=not encoding.is_guessed
        and marks in (Delimiters(usual), Delimiters(usual, '"'), Delimiters(ONE_COLUMN, '"')),
    )
    # Without quotes, a tab is in no text: later columns may be left out, as in STS-B.
    width = 0 if marks == Delimiters("\t") else width
    return _plain_table(found, width, path, bad_rows, has_header, dialect)


def _no_header(cells: Sequence[str]) -> bool:
    return False


def _empty(path: Path) -> ValueError:
    return ValueError(f"{str(path)!r} is empty. Give a table with a row for each example.")


def _fast_text(line: str) -> Record:
    found = _FAST_TEXT.match(line)
    if found is None:
        return Record([line.strip()], 0)
    names = [name.removeprefix("__label__") for name in re.split("[ ,]+", found[1].strip(" ,"))]
    return Record(["|".join(names), found[2].strip()], 0)


def _are_labelled(lines: Sequence[str]) -> bool:
    """Return whether each line begins with a label, one of few that recur."""
    found = [_LABEL_FIRST.match(line) for line in lines if line.strip()]
    counts = Counter(one[1] for one in found if one)
    return counts.total() == len(found) and 1 < len(counts) <= min(50, len(found) // 2)


def _label_first(line: str) -> Record:
    found = _LABEL_FIRST.match(line)
    return Record([line.strip()] if found is None else [found[1].rstrip(":"), found[2].strip()], 0)


def _decoded(record: Record, encoding: Encoding) -> Record:
    """Return a record; a wrong one if it has a byte that its encoding does not define."""
    wrong = encoding.damage("\0".join(record.cells))
    return record._replace(wrong=wrong) if wrong else record


def _plain_table(
    found: Iterator[Record],
    width: int,
    path: Path,
    bad_rows: BadRows,
    has_header: HasHeader,
    dialect: Dialect,
) -> Table:
    """Return a table of rows without names, of which the first may be its header.

    Args:
        width: Their usual number of cells; 0 for any where there are no names.
        path, bad_rows, has_header: As for `open_table`.
        dialect: With a header.
    """
    first = first_items(found, lambda record: _size(record.cells), FIRST)
    if not first:
        raise _empty(path)
    if first[0].wrong:
        raise ValueError(f"the first row of {str(path)!r} {first[0].wrong}. Correct it.")
    head = [str(cell).strip(_BLANK) for cell in first[0].cells]
    check_width(len(head), repr(str(path)))
    body = [record.cells for record in first[1:] if not record.wrong]
    names = has_header(head)
    if names is None:
        names = are_names(head, body) is not False
    columns = head if names else list(map(str, range(1, (width or len(head)) + 1)))
    if names:
        if _has_row_names(body, len(head)):
            columns = ["", *head]
        width = len(columns)

    def rows() -> Iterator[Row]:
        for number, record in enumerate(chain(first[names:], found), start=1):
            cells, wrong = record.cells, record.wrong
            if not wrong and width and len(cells) != width:
                if len(cells) > width and not any(map(str.strip, map(str, cells[width:]))):
                    cells = cells[:width]
                else:
                    wrong = f"has {len(cells)} cells, but there are {width} columns"
            if wrong:
                at = f" (line {record.line})" if record.line else ""
                bad_rows.add(f"row {number} of {str(path)!r}{at} {wrong}.")
            elif names and cells == first[0].cells:
                bad_rows.note(
                    f"Rows of {path.name!r} that repeat the names of columns are left out."
                )
            else:
                yield Row(number, cells)

    kept = tuple(cells for cells in body if not width or len(cells) == width)
    if not names:
        kept = (first[0].cells, *kept)
    return Table(tuple(columns), rows(), names, kept, replace(dialect, has_header=names))


def _has_row_names(rows: Sequence[Sequence[Any]], width: int) -> bool:
    """Return whether rows have one cell more than names: their numbers, as R writes them."""
    numbers = [str(row[0]) for row in rows if len(row) == width + 1]
    return 1 < len(rows) == len(numbers) and all(
        number == str(place) for place, number in enumerate(numbers, start=int(numbers[0] != "0"))
    )


def _json_table(
    text: TextIO,
    path: Path,
    form: str,
    encoding: Encoding,
    bad_rows: BadRows,
    has_header: HasHeader,
) -> Table:
    kind = kind_of(path)
    has_lines, values = json_values(text, path, ending=kind)
    first = first_items(values, lambda value: value.size or _size([value.value]), FIRST)
    objects = [value.value for value in first if isinstance(value.value, dict)]
    named = form.title() if form != "json" else "JSON lines" if has_lines else "JSON"
    endings = (".arrow", ".feather") if form == "arrow" else (f".{form}",)
    is_usual = kind in (JSON_LINES if has_lines and form == "json" else endings)
    dialect = Dialect(form=named, encoding=encoding, is_usual=is_usual)
    if not objects:
        lists = [value.value for value in first if isinstance(value.value, list)]
        if not lists:
            why = f"its first row {first[0].wrong or 'is no object'}" if first else "it has no row"
            raise ValueError(f"{str(path)!r} has no table in JSON: {why}. Write {FORMS}.")
        width = Counter(map(len, lists)).most_common(1)[0][0]
        found = (_listed(value) for value in chain(first, values))
        # Lists of JSON seldom begin with names.
        return _plain_table(
            found, width, path, bad_rows, lambda cells: has_header(cells) or False, dialect
        )
    columns = tuple(dict.fromkeys(name for row in objects for name in row))
    check_width(len(columns), repr(str(path)))

    def rows() -> Iterator[Row]:
        for number, (value, wrong, _) in enumerate(chain(first, values), start=1):
            if wrong or not isinstance(value, dict):
                wrong = wrong or f"is a JSON {type(value).__name__}, not an object"
                bad_rows.add(f"row {number} of {str(path)!r} {wrong}.")
            else:
                yield Row(number, [value.get(column) for column in columns])

    most = max(1, FIRST_CELLS // max(1, len(columns)))
    cells = tuple([row.get(column) for column in columns] for row in objects[:most])
    return Table(columns, rows(), True, cells, dialect)


def _listed(value: Value) -> Record:
    is_list = isinstance(value.value, list)
    wrong = value.wrong or ("" if is_list else "is no list, as other rows are")
    return Record(value.value if is_list else [], 0, wrong)
