"""Tables that are text: the signs between and around their cells, and their rows."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas"}
"""What may separate cells, the least usual within a text first."""
ONE_COLUMN = "\x1f"
"""The separator of a table of one column: a sign that is in no text."""
LONGEST_RECORD = 2_000_000
"""Characters of a row over several lines; a longer one has a quotation mark that is not closed."""
_MOST_BARE = 20
"""Cells of a line that begin with a quotation mark that does not quote: each costs a search."""
_MOST_LABELS, _LONGEST_LABEL = 50, 60
_NOT_CLOSED = "opens a quotation mark that is not closed"
_NOT_QUOTED = "has text beside quoted cells. Write a quotation mark inside of one twice"


class Delimiters(NamedTuple):
    """The signs between and around the cells of a row."""

    separator: str
    quote: str = ""
    """"" where quotation marks are text."""

    def describe(self) -> str:
        """Return how they part cells: "a table with tabs between cells", "one column"."""
        if self.separator == ONE_COLUMN:
            return "one column"
        said = f"a table with {SEPARATORS.get(self.separator, repr(self.separator))} between cells"
        return said + (" and single quotes around them" if self.quote == "'" else "")


class Record(NamedTuple):
    """A row as it stands in the file."""

    cells: Sequence[Any]
    line: int = 0
    """At which it begins, from 1; 0: it is not known."""
    wrong: str = ""
    """What is wrong with it, as a phrase; "" for nothing."""


def find_marks(lines: Sequence[str], ending: str) -> Delimiters:
    """Return the likely signs of a table: each separator is tried with each way of quoting.

    The first lines have their ends; the ending of the file's name, such as ".csv", decides between
    equals.
    """
    content = "".join(lines)
    usual = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(ending, "")
    tried = [
        Delimiters(sign, quote)
        for sign in SEPARATORS
        for quote in ('"', "'", "")
        if sign in content and (quote in content or quote == '"')
    ]
    fit = [(_rank(lines, content, marks, usual), marks) for marks in tried]
    # A text that is no table has commas, too.
    fit = [
        ranked
        for ranked in fit
        if ranked[0][0] > (0.8 if ranked[1].separator == "," != usual else 0.5)
    ]
    if fit:
        return max(fit, key=lambda ranked: ranked[0])[1]
    is_named = bool(usual) and usual in lines[0]
    return Delimiters(usual if is_named else ONE_COLUMN, '"' * (usual == ","))


def _rank(
    lines: Sequence[str], content: str, marks: Delimiters, usual: str
) -> tuple[float, bool, bool, bool, bool]:
    """Return how well signs fit some lines; the greatest fit best.

    These are: the share of the rows with the most frequent number of cells from two, in tenths (0
    if the quotes are others); whether the first row has it; whether some cells could not be
    written without their quotes; whether a column has few and short values; whether the ending of
    the file's name says this separator.
    """
    separator, quote = marks
    if not quote and separator != "\t":
        return 0, False, False, False, False
    rows = [row.cells for row in records(lines, marks)]
    needs_quotes = bool(quote) and any(separator in c or "\n" in c for row in rows for c in row)
    if quote:
        sign, inside = re.escape(separator), rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
        start, end = rf"(?:^|{sign}) *{quote}", rf"{quote} *(?={sign}|[\r\n]|\Z)"
        quoted = re.compile(rf"{start}(?:({inside}){end})?", re.MULTILINE)
        inner = [cell[1] for cell in quoted.finditer(content)]
        needs_quotes |= any(quote in cell for cell in inner if cell)
        num_other = inner.count(None)
        # Quotation marks of a TSV are text, unless nearly all of them are those of CSV.
        is_meant = len(inner) > 20 * num_other if separator == "\t" else quote == '"'
        if not is_meant and not (quote == "'" and needs_quotes and not num_other):
            return 0, False, False, False, False
    widths = Counter(len(row) for row in rows if len(row) > 1).most_common(1)
    width, num = widths[0] if widths else (0, 0)
    columns = zip(*(row for row in rows if len(row) == width), strict=True)
    has_labels = any(
        len({*column}) <= min(_MOST_LABELS, len(column) // 2)
        and max(map(len, column)) <= _LONGEST_LABEL
        for column in columns
    )
    fits_first = bool(rows) and len(rows[0]) == width
    is_usual = separator == usual
    return round(num / max(1, len(rows)), 1), fits_first, needs_quotes, has_labels, is_usual


def records(lines: Iterable[str], marks: Delimiters, width: int = 0) -> Iterator[Record]:
    """Yield the rows of a table's lines; those without any text are left out.

    A row whose quotes are not closed, or would give another number of cells than `width` (0: any),
    costs its line alone.
    """
    source, back, number = iter(lines), deque[str](), 1
    left = LONGEST_RECORD
    """Characters that may be given back: ten times as many as were taken, and these."""
    while line := back.popleft() if back else next(source, ""):
        left += 10 * len(line)
        cells, wrong = _cells(line, marks)
        more: list[str] = []
        if wrong == _NOT_CLOSED:
            size = 0
            while size < min(LONGEST_RECORD, left):
                if not (following := back.popleft() if back else next(source, "")):
                    break
                more.append(following)
                size += len(following)
                if following.count(marks.quote) % 2:
                    break
            closed, still = _cells("".join([line, *more]), marks)
            if still or width not in (0, len(closed)):
                back.extendleft(reversed(more))
                left, more = left - size, []
            else:
                cells, wrong = closed, ""
        if wrong or any(map(str.strip, cells)):
            yield Record(cells, number, wrong)
        number += 1 + len(more)


def _cells(line: str, marks: Delimiters) -> tuple[list[str], str]:
    """Return the cells of a row, and what is wrong with it, as a phrase; "" for nothing.

    A quoted cell ends as in CSV, or else at a quotation mark before a separator or the end, without
    a backslash before it. One with no such end is not quoted, unless a mark has no second one.
    """
    line, (separator, quote) = line.rstrip("\r\n"), marks
    if not quote or quote not in line:
        cells = line.split(separator)
        return [c.lstrip(" ") for c in cells] if quote and f"{separator} " in line else cells, ""
    pattern, cells, place, num_bare = _cell_pattern(marks), [], 0, 0
    while place <= len(line):
        match = pattern.match(line, place)
        assert match is not None
        strict, loose, bare, end = match.groups()
        if bare is None:
            cell = (loose if strict is None else strict).replace(2 * quote, quote)
            cells.append(cell if loose is None else cell.replace(f"\\{quote}", quote))
        else:
            if bare.startswith(quote):
                num_bare += 1
                if line.count(quote, place) % 2:
                    return [], _NOT_CLOSED
                if num_bare > _MOST_BARE:
                    return [], _NOT_QUOTED
            cells.append(bare)
        place = match.end() if end else len(line) + 1
    return cells, ""


@lru_cache(maxsize=64)
def _cell_pattern(marks: Delimiters) -> re.Pattern[str]:
    """Return the pattern of a cell, quoted as in CSV, loosely or not at all, and what ends it."""
    mark, q = re.escape(marks.separator), marks.quote
    end = rf"(?: *(?={mark}|\Z))"
    strict = rf"{q}([^{q}]*+(?:{q}{q}[^{q}]*+)*+){q}{end}"
    # Of the four at most one matches at a place, so nothing is tried twice. They are no possessive
    # group, which Python 3.11.2 (Debian 12) gives up too early.
    inner = rf"\\{q}|\\(?!{q})|{q}{q}|{q}(?!{q}|{end})"
    loose = rf"{q}([^{q}\\]*+(?:(?:{inner})[^{q}\\]*+)*){q}{end}"
    return re.compile(rf" *(?:{strict}|{loose}|([^{mark}]*))({mark}|\Z)")
