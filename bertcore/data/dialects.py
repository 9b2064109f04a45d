"""Tables that are text: the signs between and around their cells, and their rows by `csv`."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas"}
"""What may separate cells, the least usual within a text first."""
ONE_COLUMN = "\x1f"
"""The separator of a table of one column: a sign that is in no text."""
LONGEST_RECORD = 2_000_000
"""Characters of a row over several lines; a longer one has a quotation mark that is not closed."""
_MOST_OPEN = 20
"""Cells of a line with a quotation mark that is not closed: for each, the rest is searched."""
_MOST_LABELS, _LONGEST_LABEL = 50, 60
_NOT_CLOSED = "opens a quotation mark that is not closed"
_NOT_QUOTED = "has text beside a quoted cell. Write a quotation mark inside of one twice"


@dataclass(frozen=True, slots=True)
class Delimiters:
    """The signs between and around the cells of a row."""

    separator: str
    quote: str = ""
    """"" where quotation marks are text."""
    escape: str = ""
    """The backslash, where it stands before the quotation marks within a quoted cell."""

    def describe(self) -> str:
        """Return what stands between cells, and what is unusual about their quotes."""
        if self.separator == ONE_COLUMN:
            return "one column"
        said = f"{SEPARATORS.get(self.separator, repr(self.separator))} between cells"
        said += ", single quotes around them" if self.quote == "'" else ""
        return said + (", backslashes before quotation marks" if self.escape else "")


class Record(NamedTuple):
    """A row of a table that is text."""

    cells: Sequence[Any]
    line: int = 0
    """At which it begins, from 1; 0: it is not known."""
    wrong: str = ""
    """What is wrong with it, as a phrase; "" for nothing."""
    is_mended: bool = False
    """Whether its quotes are not those of the dialect, though it can be read."""


class _Fit(NamedTuple):
    """How well a dialect fits some lines; of several, the greatest fits best."""

    share: float
    """Of the rows, those with the most frequent number of cells from two, in tenths."""
    fits_first: bool
    """Whether the first row has that number."""
    needs_quotes: bool
    """Whether some cells could not be written without their quotes."""
    has_labels: bool
    """Whether a column has few and short values."""
    is_usual: bool
    """Whether the ending of the file's name says this separator."""
    marks: Delimiters
    num_quoted: int
    num_broken: int
    """Rows whose quotes are not those of the dialect."""


def find_marks(lines: Sequence[str], ending: str) -> Delimiters:
    """Return the likely dialect of a table from its first lines.

    Each separator that occurs is tried with each way of quoting.

    Args:
        lines: With their ends.
        ending: Of the file's name, such as ".csv"; decides between equals.
    """
    content = "".join(lines)
    usual = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(ending, "")
    tried = [_best_quote(lines, mark, content, usual) for mark in SEPARATORS if mark in content]
    # A text that is no table has commas, too.
    is_table = [one.share > (0.8 if one.marks.separator == "," != usual else 0.5) for one in tried]
    fit = [one for one, is_one in zip(tried, is_table, strict=True) if is_one]
    if fit:
        return max(fit, key=lambda one: one[:5]).marks
    is_named = bool(usual) and usual in lines[0]
    return Delimiters(usual if is_named else ONE_COLUMN, '"' * (usual == ","))


def _best_quote(lines: Sequence[str], separator: str, content: str, usual: str) -> _Fit:
    best = _fit(lines, Delimiters(separator, '"'), usual)
    if separator == "\t":
        # Quotation marks of a TSV are text, unless nearly all of them are those of CSV.
        plain = _fit(lines, Delimiters(separator), usual)
        if best.num_quoted <= 20 * best.num_broken or best.share < plain.share:
            return plain
    if best.num_broken > 1 and '\\"' in content:
        escaped = _fit(lines, Delimiters(separator, '"', "\\"), usual)
        best = escaped if escaped.num_broken < best.num_broken else best
    if "'" in content and not best.needs_quotes:
        single = _fit(lines, Delimiters(separator, "'"), usual)
        if single.needs_quotes and not single.num_broken and single.share >= best.share:
            return single
    return best


def _fit(lines: Sequence[str], marks: Delimiters, usual: str) -> _Fit:
    rows = list(records(lines, marks))
    widths = Counter(len(row.cells) for row in rows if len(row.cells) > 1).most_common(1)
    width, num = widths[0] if widths else (0, 0)
    num_quoted, needs_quotes = 0, False
    if quote := marks.quote:
        separator = re.escape(marks.separator)
        start = rf"(?:^|{separator}) *{quote}"
        num_quoted = sum(len(re.findall(start, line)) for line in lines)
        doubled = re.compile(rf"{start}[^{quote}]*{quote}{quote}[^{separator}\r\n]")
        needs_quotes = any(map(doubled.search, lines)) or any(
            marks.separator in cell or "\n" in cell for row in rows for cell in row.cells
        )
    body = [row.cells for row in rows if len(row.cells) == width]
    return _Fit(
        share=round(num / max(1, len(rows)), 1),
        fits_first=bool(rows) and len(rows[0].cells) == width,
        needs_quotes=needs_quotes,
        has_labels=any(map(_are_labels, zip(*body, strict=True))),
        is_usual=marks.separator == usual,
        marks=marks,
        num_quoted=num_quoted,
        num_broken=sum(row.is_mended or bool(row.wrong) for row in rows),
    )


def _are_labels(column: Sequence[str]) -> bool:
    values = {*column}
    are_few = len(values) <= min(_MOST_LABELS, len(column) // 2)
    return are_few and max(map(len, values)) <= _LONGEST_LABEL


def records(lines: Iterable[str], marks: Delimiters, width: int = 0) -> Iterator[Record]:
    """Yield the rows of a table; those without any text are left out.

    A row whose quotes are wrong is read as its line alone, if that gives the right number of
    cells, or is wrong itself; the lines below are rows of their own.

    Args:
        lines: With their ends.
        marks: The dialect.
        width: Cells of a row; 0: of any number.
    """
    csv.field_size_limit(2**31 - 1)  # of the process; lines and records have limits of their own
    source, back, number = iter(lines), deque[str](), 1
    separator, quote = marks.separator, marks.quote
    left = 5 * LONGEST_RECORD
    """Characters that may be given back: ten times as many as were taken, and some at first."""
    while line := back.popleft() if back else next(source, ""):
        left += 10 * len(line)
        more: list[str] = []
        if not quote or quote not in line:
            cells = line.rstrip("\r\n").split(separator)
            if quote and f"{separator} " in line:
                cells = [cell.lstrip(" ") for cell in cells]
            record = Record(cells, number)
        else:
            record = _parsed([line], marks, number)
            if record.wrong == _NOT_CLOSED:
                size = 0
                while size < min(LONGEST_RECORD, left):
                    if not (following := back.popleft() if back else next(source, "")):
                        break
                    more.append(following)
                    size += len(following)
                    num_quotes = following.count(quote)
                    if (num_quotes - bool(marks.escape) * following.count(f"\\{quote}")) % 2:
                        break
                closed = _parsed([line, *more], marks, number)
                if closed.wrong or width not in (0, len(closed.cells)):
                    back.extendleft(reversed(more))
                    left -= size
                    more = []
                else:
                    record = closed
            if record.wrong or width not in (0, len(record.cells)):
                record = _mended(line, marks, record, width)
        if record.wrong or any(map(str.strip, record.cells)):
            yield record
        number += 1 + len(more)


def _parsed(lines: Sequence[str], marks: Delimiters, number: int) -> Record:
    """Return the one row of some lines by the rules of CSV."""
    try:
        rows = [*csv.reader(lines, _csv_dialect(marks))]
    except csv.Error as error:
        wrong = _NOT_CLOSED if "end of data" in str(error) else _NOT_QUOTED
        return Record([], number, wrong)
    return Record(rows[0] if rows else [], number, _NOT_CLOSED if len(rows) > 1 else "")


@lru_cache(maxsize=64)
def _csv_dialect(marks: Delimiters) -> Any:
    return csv.reader(
        [],
        delimiter=marks.separator,
        quotechar=marks.quote,
        escapechar=marks.escape or None,
        skipinitialspace=True,
        strict=True,
    ).dialect


def _mended(line: str, marks: Delimiters, record: Record, width: int) -> Record:
    """Return a line whose quotes are not those of the dialect, if that gives a row of the width.

    A quoted cell ends at a quotation mark before a separator or the end, without a backslash before
    it; spaces beside its quotes are left out. A cell that begins with a quotation mark and has no
    such end is not quoted, unless it has none at all.

    Args:
        record: By the rules of CSV.
    """
    line, is_open = line.rstrip("\r\n"), record.wrong == _NOT_CLOSED
    quoted, bare = _cell_patterns(marks.separator, marks.quote)
    cells, place, num_open = [], 0, 0
    while place <= len(line):
        found = quoted.match(line, place)
        if found is None:
            found = bare.match(line, place)
            assert found is not None
            num_open += found[1].lstrip().startswith(marks.quote)
            if num_open > (0 if is_open else _MOST_OPEN):
                return record
            cells.append(found[1].strip(" "))
        else:
            inner = found[1].replace(2 * marks.quote, marks.quote)
            cells.append(inner.replace(f"\\{marks.quote}", marks.quote))
        place = found.end() if found[2] else len(line) + 1
    return Record(cells, record.line, is_mended=True) if width in (0, len(cells)) else record


@lru_cache(maxsize=64)
def _cell_patterns(separator: str, quote: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a cell and of what ends it, quoted and not."""
    mark, end = re.escape(separator), f"({re.escape(separator)}|$)"
    inside = rf"\\{quote}|{quote}{quote}|[^{quote}\\]|\\|{quote}(?! *(?:{mark}|$))"
    return (
        re.compile(rf" *{quote}((?:{inside})*+){quote} *{end}"),
        re.compile(rf"([^{mark}]*){end}"),
    )
