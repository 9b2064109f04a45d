"""Tables of examples, read row by row: CSV, TSV and JSON lines, optionally compressed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from bertcore.data.files import (
    LONGEST_LINE,
    BadRows,
    check_width,
    kind_of,
    lines_of,
    open_text,
)

_LOOK_AT_LINES = 20_000
"""Lines that decide whether the cells of a TSV are quoted."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number (the first below the header is 1) and its cells."""

    number: int
    cells: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Table:
    """An open table; `rows` can be iterated once."""

    columns: tuple[str, ...]
    """Names, or "1", "2", ... where there are none."""
    rows: Iterator[Row]
    has_header: bool


def column_place(columns: Sequence[str], name: str, path: Path) -> int:
    """Return the place of a column, from 0.

    Raises:
        ValueError: If two columns have that name.
    """
    places = [place for place, column in enumerate(columns) if column == name]
    if len(places) > 1:
        raise ValueError(
            f"{str(path)!r} has {len(places)} columns {name[:40]!r} "
            f"({' and '.join(str(place + 1) for place in places[:5])}), so it is not clear which "
            "one to read. Give each column its own name."
        )
    return places[0]


JSON_LINES = (".jsonl", ".json", ".ndjson")
"""Endings of files with an object a line."""
HasHeader = Callable[[Sequence[str]], bool]
"""Called with the cells of the first line; returns whether they are names."""


@contextmanager
def open_table(
    path: Path,
    bad_rows: BadRows,
    *,
    has_header: HasHeader = lambda cells: True,
    file: BinaryIO | None = None,
) -> Iterator[Table]:
    """Open a table by its extension: .csv, .jsonl (or .json with one object per line), else TSV.

    The cells of a TSV are read verbatim, including quotation marks, as in GLUE's files; unless
    every cell that begins with one is quoted by the rules of CSV, as in files written by
    spreadsheets and pandas.

    Args:
        path: The file.
        bad_rows: Collects rows with a different number of cells, and lines that are not objects.
        has_header: Decides from the first line whether it is a header; not used for JSON lines,
            which have names.
        file: The same file, already open; its position shows how far it has been read.

    Raises:
        ValueError: If the file cannot be read, has no row or more than MAX_COLUMNS columns, or its
            quotes are not closed.
    """
    kind = kind_of(path)
    if kind in JSON_LINES:
        with open_text(path, file) as text:
            yield _json_table(text, path, bad_rows)
        return
    if kind in (".parquet", ".xlsx", ".xls", ".zip", ".arrow"):
        raise ValueError(
            f"{str(path)!r} is not a text file. Save the table as CSV, TSV or JSON lines."
        )
    is_tsv = kind != ".csv"
    if is_tsv:
        with open_text(path) as text:
            quoted = _is_quoted(islice(lines_of(text, path), _LOOK_AT_LINES))
    with open_text(path, file) as text:
        if is_tsv and not quoted:
            cells = (line.split("\t") for line in lines_of(text, path) if line.strip())
            yield _table(cells, path, bad_rows, has_header)
        else:
            delimiter = "\t" if is_tsv else _delimiter(path)
            yield _table(_parsed(text, path, delimiter), path, bad_rows, has_header)


def _is_quoted(lines: Iterator[str]) -> bool:
    some = False
    for line in lines:
        if '"' not in line:
            continue
        for cell in line.split("\t"):
            if not cell.startswith('"'):
                continue
            some = True
            if len(cell) < 2 or not cell.endswith('"') or '"' in cell[1:-1].replace('""', ""):
                return False
    return some


def _delimiter(path: Path) -> str:
    with open_text(path) as file:
        first = file.readline(LONGEST_LINE)
    return max(",;\t", key=first.count)


def _parsed(file: TextIO, path: Path, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield cells
    except csv.Error as error:
        raise ValueError(
            f"{str(path)!r} cannot be read as a table at line {reader.line_num}: {error}. Check "
            "that every quotation mark is closed."
        ) from error


def _table(
    lines: Iterator[list[str]], path: Path, bad_rows: BadRows, has_header: HasHeader
) -> Table:
    first = next(lines, None)
    if first is None:
        raise ValueError(f"{str(path)!r} is empty. Give a table with a row for each example.")
    width = len(first)
    check_width(width, repr(str(path)))
    names = has_header(first)

    def rows() -> Iterator[Row]:
        if not names:
            yield Row(1, first)
        for number, cells in enumerate(lines, start=1 if names else 2):
            # Without a header, as in STS-B, later columns may be left out.
            if names and len(cells) != width:
                bad_rows.add(
                    f"row {number} of {str(path)!r} has {len(cells)} cells, but there are "
                    f"{width} columns."
                )
                continue
            yield Row(number, cells)

    columns = [cell.strip() for cell in first] if names else map(str, range(1, width + 1))
    return Table(tuple(columns), rows(), names)


def _json_table(file: TextIO, path: Path, bad_rows: BadRows) -> Table:
    lines = (line for line in lines_of(file, path) if line.strip())
    first = next(lines, None)
    if first is None:
        raise ValueError(f"{str(path)!r} is empty. Write one JSON object per line.")
    try:
        columns = tuple(_object(first))
    except ValueError as error:
        raise ValueError(
            f"{str(path)!r} has no JSON lines: its first line is {error}. "
            'Write one object per line, such as {"text": "...", "label": "..."}.'
        ) from error
    check_width(len(columns), repr(str(path)))

    def rows() -> Iterator[Row]:
        for number, line in enumerate(chain([first], lines), start=1):
            wrong, cells = "", []
            try:
                values = _object(line)
                cells = [values[column] for column in columns]
                broken = _broken_column(line, values)
                if broken is not None:
                    wrong = f"has a lone surrogate in column {broken!r}, which is not a character"
            except KeyError as error:
                wrong = f"lacks {error.args[0]!r}"
            except ValueError as error:
                wrong = f"is {error}"
            if wrong:
                bad_rows.add(f"row {number} of {str(path)!r} {wrong}.")
            else:
                yield Row(number, cells)

    return Table(columns, rows(), True)


def _broken_column(line: str, values: dict[str, Any]) -> str | None:
    """Return the first column with an escape such as \\ud800 alone, which no tokenizer accepts."""
    if "\\ud" not in line.lower():
        return None
    for column, cell in values.items():
        try:
            json.dumps([column, cell], ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return column
    return None


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError("not valid JSON") from error
    if not isinstance(value, dict):
        raise ValueError(f"a JSON {type(value).__name__}, not an object")
    return value
