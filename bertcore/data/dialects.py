"""The dialect of a table that is text: what separates and quotes its cells."""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas"}
"""What may separate cells, the least usual within a text first."""
ONE_COLUMN = "\x1f"
"""The separator of a table of one column: a sign that is in no text."""
LONGEST_RECORD = 2_000_000
"""Characters of a row over several lines; a longer one has a quotation mark that is not closed."""
_MOST_OPEN = 20
"""Cells of a line with a quotation mark that is not closed: for each, the rest is searched."""
_SEP_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
_MOST_LABELS, _LONGEST_LABEL = 50, 60
_NOT_CLOSED = "opens a quotation mark that is not closed"
_NOT_QUOTED = "has text beside a quoted cell. Write a quotation mark inside of one twice"

Labels = Mapping[int, frozenset[str]]
"""Values of the columns, by place, that have few and short ones."""


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

    cells: list[str]
    line: int
    """At which it begins, from 1."""
    wrong: str = ""
    """What is wrong with it, as a phrase; "" for nothing."""
    is_mended: bool = False
    """Whether its quotes are not those of the dialect, though it can be read."""


def sep_line(line: str) -> str | None:
    """Return the separator that a first line such as "sep=;" names, as spreadsheets write it."""
    named = _SEP_LINE.fullmatch(line)
    return named[1] if named else None


def find_marks(lines: Sequence[str], ending: str) -> Delimiters:
    """Return the likely dialect of a table from its first lines.

    Each separator that occurs is tried with each way of quoting. The best one gives most rows the
    same number of cells, then that of the first row, then quoted cells that need their quotes, then
    a column of short values that recur.

    Args:
        lines: With their ends.
        ending: Of the file's name, such as ".csv"; decides between equals.
    """
    content = "".join(lines)
    usual = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(ending)
    tried = [_best_quote(lines, mark, content) for mark in SEPARATORS if mark in content]
    # A text that is no table has commas, too.
    least = {",": 0.5 if usual == "," else 0.8}
    fit = [one for one in tried if one.share > least.get(one.marks.separator, 0.5)]
    if not fit:
        is_table = usual is not None and usual in lines[0]
        return Delimiters(usual or "" if is_table else ONE_COLUMN, '"' * (usual == ","))

    def rank(one: _Tried) -> tuple[object, ...]:
        share = round(one.share, 1)
        is_usual = one.marks.separator == usual
        return share, one.fits_first, one.num_needed > 0, one.has_labels, is_usual

    return max(fit, key=rank).marks


class _Tried(NamedTuple):
    """How a dialect fits some lines."""

    marks: Delimiters
    share: float
    """Of the rows, those with the most frequent number of cells from two."""
    fits_first: bool
    """Whether the first row has that number."""
    num_quoted: int
    num_needed: int
    """Quoted cells that need their quotes."""
    num_broken: int
    """Rows whose quotes are not those of the dialect."""
    has_labels: bool


def _best_quote(lines: Sequence[str], separator: str, content: str) -> _Tried:
    double = _try(lines, Delimiters(separator, '"'))
    best = double
    if separator == "\t":
        # Quotation marks of a TSV are text, unless nearly all of them are those of CSV.
        plain = _try(lines, Delimiters(separator))
        if double.num_quoted <= 20 * double.num_broken or double.share < plain.share:
            best = plain
    if best is double and double.num_broken > 1 and '\\"' in content:
        escaped = _try(lines, Delimiters(separator, '"', "\\"))
        if escaped.num_broken < double.num_broken:
            best = escaped
    if "'" in content and not best.num_needed:
        single = _try(lines, Delimiters(separator, "'"))
        if single.num_needed and not single.num_broken and single.share >= best.share:
            best = single
    return best


def _try(lines: Sequence[str], marks: Delimiters) -> _Tried:
    rows = list(records(lines, marks))
    widths = [len(row.cells) for row in rows]
    several = Counter(width for width in widths if width > 1).most_common(1)
    width, num = several[0] if several else (0, 0)
    num_quoted = num_needed = 0
    if quote := marks.quote:
        start = rf"(?:^|{re.escape(marks.separator)}) *{quote}"
        num_quoted = sum(len(re.findall(start, line)) for line in lines)
        doubled = rf"{start}[^{quote}]*{quote}{quote}[^{re.escape(marks.separator)}\r\n]"
        num_needed = sum(len(re.findall(doubled, line)) for line in lines)
        inside = (marks.separator, "\n")
        num_needed += sum(any(map(cell.__contains__, inside)) for row in rows for cell in row.cells)
    return _Tried(
        marks,
        num / max(1, len(rows)),
        bool(rows) and widths[0] == width,
        num_quoted,
        num_needed,
        sum(row.is_mended or bool(row.wrong) for row in rows),
        bool(label_values([row.cells for row in rows if len(row.cells) == width])),
    )


def label_values(rows: Sequence[Sequence[str]]) -> Labels:
    """Return the values of the columns of rows of one width that have few and short ones."""
    found = {}
    for place, column in enumerate(zip(*rows, strict=True)):
        values = frozenset(column)
        are_few = len(values) <= min(_MOST_LABELS, len(rows) // 2)
        if are_few and max(map(len, values)) <= _LONGEST_LABEL:
            found[place] = values
    return found


def records(
    lines: Iterable[str], marks: Delimiters, width: int = 0, labels: Labels | None = None
) -> Iterator[Record]:
    """Yield the rows of a table; blank ones, and those of empty cells, are left out.

    A row whose quotes are wrong is read as its line alone, if that gives the right number of
    cells, or is wrong itself; the lines below are rows of their own.

    Args:
        lines: With their ends.
        marks: The dialect.
        width: Cells of a row; 0: of any number.
        labels: Values of columns: a quoted cell over lines with these, in rows of this width, is
            one whose quotation mark is not closed.
    """
    source = _Lines(lines)
    if marks.quote:
        found = _quoted(source, marks, width, labels or {})
    else:
        found = (
            Record(line.rstrip("\r\n").split(marks.separator), number)
            for number, line in enumerate(lines, start=1)
        )
    for record in found:
        if record.wrong or any(cell.strip() for cell in record.cells):
            yield record


class _Lines:
    """Lines that are taken one by one, of which all but the first may be given back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self._back = iter(lines), deque[str]()
        self.taken: list[str] = []
        self.line = 1
        """Number of the first one that is taken."""
        self._size = 0
        self._left = 5 * LONGEST_RECORD
        """Characters that may be given back: ten times as many as were taken, and some at first."""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._back.popleft() if self._back else next(self._lines)
        self.taken.append(line)
        self._size += len(line)
        if self._size > min(LONGEST_RECORD, self._left) and len(self.taken) > 1:
            raise csv.Error(_NOT_CLOSED)
        return line

    def keep(self) -> None:
        """Begin anew with the next one."""
        self.line += len(self.taken)
        self._left += 10 * self._size
        self.taken, self._size = [], 0

    def give_back(self) -> None:
        """Take only the first one."""
        self._back.extendleft(reversed(self.taken[1:]))
        self._left -= self._size
        del self.taken[1:]
        self._size = len(self.taken[0])


def _quoted(source: _Lines, marks: Delimiters, width: int, labels: Labels) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)  # of the process; lines and records have limits of their own
    reader = csv.reader(
        source,
        delimiter=marks.separator,
        quotechar=marks.quote,
        escapechar=marks.escape or None,
        skipinitialspace=True,
        strict=True,
    )
    while True:
        source.keep()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            cells, is_open = [], len(source.taken) > 1 or "end of data" in str(error)
        else:
            is_open = len(source.taken) > 1 and _is_swallowing(
                source.taken, cells, marks, width, labels
            )
            if (not is_open and len(cells) in (width, 0)) or (not width and not is_open):
                yield Record(cells, source.line)
                continue
        source.give_back()
        mended = _mended(source.taken[0], marks, is_open=is_open)
        if mended is not None and len(mended) == (width or len(mended)):
            yield Record(mended, source.line, is_mended=True)
        elif cells and not is_open:
            yield Record(cells, source.line)
        else:
            yield Record(mended or [], source.line, _NOT_CLOSED if is_open else _NOT_QUOTED)


def _is_swallowing(
    lines: Sequence[str], cells: Sequence[str], marks: Delimiters, width: int, labels: Labels
) -> bool:
    """Return whether a row over several lines has other rows in a cell."""
    if width and len(cells) != width:
        return True
    for line in lines[1:-1]:
        inner = _mended(line, marks, is_open=False) or []
        known = (inner[place] in values for place, values in labels.items())
        if labels and len(inner) == width and all(known):
            return True
    return False


def _mended(line: str, marks: Delimiters, *, is_open: bool) -> list[str] | None:
    """Return the cells of a line whose quotes are not those of the dialect.

    A quoted cell ends at a quotation mark before a separator or the end, without a backslash before
    it; spaces beside its quotes are left out.

    Args:
        is_open: Whether a cell that begins with a quotation mark and has no such end makes the line
            unreadable; else it is not quoted.
    """
    line = line.rstrip("\r\n")
    quoted, bare = _cell_patterns(marks.separator, marks.quote)
    cells, place, num_open = [], 0, 0
    while place <= len(line):
        found = quoted.match(line, place)
        if found is None:
            found = bare.match(line, place)
            assert found is not None
            num_open += found[1].lstrip().startswith(marks.quote)
            if num_open > (0 if is_open else _MOST_OPEN):
                return None
            cells.append(found[1].strip(" "))
        else:
            inner = found[1].replace(2 * marks.quote, marks.quote)
            cells.append(inner.replace(f"\\{marks.quote}", marks.quote))
        place = found.end() if found[2] else len(line) + 1
    return cells


@lru_cache(maxsize=64)
def _cell_patterns(separator: str, quote: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a cell and of what ends it, quoted and not."""
    mark, end = re.escape(separator), f"({re.escape(separator)}|$)"
    inside = rf"\\{quote}|{quote}{quote}|[^{quote}\\]|\\|{quote}(?! *(?:{mark}|$))"
    return (
        re.compile(rf" *{quote}((?:{inside})*+){quote} *{end}"),
        re.compile(rf"([^{mark}]*){end}"),
    )
