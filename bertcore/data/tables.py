"""Tables of examples, read row by row: CSV and its dialects, JSON, Parquet and Arrow."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, dropwhile
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TextIO

from bertcore.data.columnar import is_columnar, open_columnar
from bertcore.data.columns import TEXTS, HasHeader, are_names, find
from bertcore.data.dialects import ONE_COLUMN, Delimiters, Record, find_marks, records
from bertcore.data.files import (
    LONGEST_LINE,
    UTF8,
    BadRows,
    Encoding,
    Limits,
    check_file,
    check_width,
    find_encoding,
    first_items,
    kind_of,
    open_bytes,
    open_text,
    whole_lines,
)

FIRST, FIRST_CELLS = Limits(1000, 1_000_000), 200_000
"""Rows that show what a table is, and cells of them in a wide table."""
JSON_LINES = (".jsonl", ".json", ".ndjson")
"""Endings of files of JSON, with an object a line or one value."""
ENDINGS = ("csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "arrow", "feather")
"""Usual endings of tables; each is read by its content."""
TABLE_FILES = (
    "CSV, TSV or text with any separator, JSON or JSON lines, Parquet, Arrow; also packed as .gz, "
    ".bz2, .xz or .zip"
)
"""What can be read, for captions."""
_USUAL = {"Parquet": (".parquet",), "Arrow": (".arrow", ".feather")}
_WEB_PAGE = "a web page. Download the file itself, such as by a link called raw"
_NO_DATA = {
    b"version https://git-lfs": "a pointer of Git LFS to the file. Fetch this with git lfs pull",
    b"<!doctype html": _WEB_PAGE,
    b"<html": _WEB_PAGE,
    b"#format=webanno": "a TSV of WebAnno or INCEpTION. Export it as CoNLL 2002",
    b"# global.columns": "CoNLL-U Plus. Write a line with a word, a tab and its tag for each word",
}
"""Beginnings of text that is not read, and what it is."""
_CONLLU = b"# global.columns = id form lemma upos xpos feats head deprel deps misc"
"""The columns that every CoNLL-U file has."""
_BLANK = "\ufeff \t\r\n\xa0"
_SEP_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
"""A first line of a spreadsheet that names the separator."""
_JSON = re.compile(r'\[\s*[\[{]\s*"|\{\s*"[^"\n]*"\s*:')
_FAST_TEXT = re.compile(r"((?:__label__\S+[ ,]+)+)(.*)", re.DOTALL)
_LABEL_FIRST = re.compile(r"(\w{1,30}:\w{0,30})\s+(\S.*)", re.DOTALL)
"""A line of TREC: its label, with a colon in it or after it, and a text."""


FORMS = (
    'a list of objects, [{"text": "...", "label": "..."}, ...], an object of columns, or an object '
    "a line"
)
_MOST_LEVELS = 100
"""Of lists and objects within a row; Python's own limit is some hundreds."""
_INNER = ("data", "rows", "examples", "instances", "items", "records")
_SPLIT = re.compile(r"(\w+_)?(train(ing)?|val(id(ation)?)?|dev|test)(_\w+)?", re.IGNORECASE)
_NOTHING = object()
_DECODER = json.JSONDecoder(strict=False)  # some tools write line breaks and tabs as they are


def json_records(text: TextIO, path: Path, ending: str) -> tuple[bool, Iterator[Record]]:
    """Return whether a file has an object (or a list) a line, and its rows: dicts or lists.

    One that ends in ".jsonl" or ".ndjson" may begin with a line that cannot be read. ValueError if
    it is empty, not valid JSON, or no table.
    """
    lines = filter(str.strip, iter(partial(text.readline, LONGEST_LINE), ""))
    first, more = next(lines, ""), next(lines, "")
    if not first:
        raise ValueError(f"{str(path)!r} is empty. Give a table with a row for each example.")
    value = _parsed(first)
    has_lines = isinstance(value, dict | list) and bool(more)
    if ending in (".jsonl", ".ndjson"):
        is_broken = value is _NOTHING and first.strip() not in ("[", "{")
        is_row = isinstance(value, dict) and not any(_are_objects(value.get(n)) for n in _INNER)
        has_lines |= is_row or (is_broken and isinstance(_parsed(more), dict))
    if has_lines:
        every = chain((first, more), whole_lines(text, path, start=3))
        return True, map(_record, map(_parsed, filter(str.strip, every)))
    return False, map(_record, _rows(_whole("".join([first, more, text.read()]), path), path))


def _parsed(line: str) -> Any:
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return _NOTHING


def _record(value: Any) -> Record:
    """Return a row; a wrong one if it is so deep that it could not be written again."""
    if value is _NOTHING:
        return Record((), wrong="is not valid JSON")
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(_MOST_LEVELS):
        nested = [
            container.values() if isinstance(container, dict) else container for container in level
        ]
        level = [part for parts in nested for part in parts if isinstance(part, list | dict)]
        if not level:
            return Record(value)
    return Record((), wrong=f"has more than {_MOST_LEVELS} levels of lists and objects")


def _whole(text: str, path: Path) -> Any:
    """Return the value of a text of JSON, or the list of those that follow one another."""
    between, values, place = re.compile("[ \t\r\n,;\ufeff\x1e]*"), [], 0
    try:
        while (place := between.match(text, place).end()) < len(text):  # type: ignore[union-attr]
            value, place = _DECODER.raw_decode(text, place)
            values.append(value)
    except (ValueError, RecursionError) as error:
        why = str(error)[:100]
        raise ValueError(f"{str(path)!r} is not valid JSON ({why}). Write {FORMS}.") from error
    return values[0] if len(values) == 1 else values


def _rows(value: Any, path: Path) -> Sequence[Any]:
    """Return the rows of a value, in one of the forms of pandas, `datasets` and their like."""
    if isinstance(value, list):
        if value and all(
            isinstance(row, dict) and isinstance(row.get("row"), dict) for row in value
        ):
            return [row["row"] for row in value]  # of the hub's viewer
        return [row if isinstance(row, dict | list) else [row] for row in value]
    parts = list(value.values()) if isinstance(value, dict) else []
    if not parts:
        raise ValueError(f"{str(path)!r} has no table in JSON. Write {FORMS}.")
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # pandas: split
        names = [str(name) for name in columns]
        return [dict(zip(names, row, strict=False)) for row in data if isinstance(row, list)]
    inner = [name for name in _INNER if _are_objects(value.get(name))]
    is_split = all(len(name) < 100 and _SPLIT.fullmatch(name) for name in value)
    named = [name for name, part in value.items() if is_split or _are_objects(part)]
    text = find(list(value), TEXTS)
    if not inner and text is not None and isinstance(parts[text], str):
        return [value]  # a text with what is marked in it
    if len(parts) == 1 and isinstance(parts[0], dict) and any(map(_are_objects, parts[0].values())):
        return _rows(parts[0], path)  # Rasa's rasa_nlu_data
    if inner or len(named) == 1:
        return _rows(value[(inner or named)[0]], path)
    if named:
        raise ValueError(
            f"{str(path)!r} has several tables, {', '.join(repr(n[:40]) for n in named[:9])}. "
            "Give a file of one of them."
        )
    if all(isinstance(part, dict) for part in parts):
        return _of_objects(value)
    if all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if any(isinstance(part, dict) for part in parts):
        raise ValueError(f"{str(path)!r} has no table in JSON. Write {FORMS}.")
    return [value]


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _of_objects(value: Mapping[str, Mapping[str, Any]]) -> Sequence[Any]:
    """Return the rows of an object of objects: of rows (pandas: index), or of columns."""
    inner = list(next(iter(value.values())))
    is_rows = all(key.lstrip("-").isdigit() for key in value) or (
        not all(key.lstrip("-").isdigit() for key in inner) and len(inner) < len(value)
    )
    if is_rows:
        return list(value.values())
    rows: dict[str, dict[str, Any]] = {}  # of what is there: of 20,000 columns each may have one
    for name, part in value.items():
        for place, cell in part.items():
            rows.setdefault(place, {})[name] = cell
    return list(rows.values())


class Row(NamedTuple):
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
    first: tuple[Sequence[Any], ...] = ()
    """Cells of the first rows; at most FIRST and FIRST_CELLS."""
    dialect: str = ""
    """How the file becomes rows and columns: "one column, without names of columns, UTF-8"."""
    _used: list[int] = field(default_factory=list)

    def use(self, *places: int) -> None:
        """Name the columns that are read, from 0: a byte in another one that no text has is no
        reason to leave out a row. By default all are.
        """
        self._used[:] = [place for place in places if place >= 0]


class _Source(NamedTuple):
    """The rows of a file before it is known whether the first one has names."""

    records: Iterator[Record]
    form: str
    is_usual: bool
    """Whether the file's name says so."""
    encoding: Encoding = UTF8
    names: tuple[str, ...] | None = None
    """None where the first row may have them."""
    width: int = 0
    """Cells of most rows; 0: of any number."""
    has_names: bool | None = None
    """Whether it has, unless the reader says so; None where the rows decide."""


def always(cells: Sequence[str]) -> bool:
    """Return True: the first row has the names that a reader needs."""
    return True


def form_of(path: Path, file: BinaryIO | None = None) -> Literal["text", "json", "columnar"]:
    """Return the form of a table by its content, and for JSON by its name.

    `file` is the same, already open, at its beginning, where it is left. ValueError if there is no
    such file, or it is no table.
    """
    if file is None:
        check_file(path)
    with open_bytes(path, file) as content:
        head = content.read(100)
    if file is not None:
        file.seek(0)
    kind = kind_of(path)
    if is_columnar(head):
        return "columnar"
    first = head.removeprefix(codecs.BOM_UTF8).lower()
    beginnings = () if first.startswith(_CONLLU) else _NO_DATA.items()
    what = next((what for start, what in beginnings if first.startswith(start)), "")
    if what or kind in (".parquet", ".arrow", ".feather"):
        raise ValueError(f"{str(path)!r} is {what or f'no {kind} file, in spite of its name'}.")
    if kind in JSON_LINES:
        return "json"
    with open_text(path, file) as text:
        start = text.read(20_000).lstrip(_BLANK)
    if file is not None:
        file.seek(0)
    return "json" if _JSON.match(start) else "text"


@contextmanager
def open_table(
    path: Path,
    bad_rows: BadRows,
    *,
    has_header: HasHeader = lambda cells: None,
    file: BinaryIO | None = None,
) -> Iterator[Table]:
    """Open a table by its content: text in any dialect and encoding, JSON, Parquet or Arrow.

    Separator and quotes are those that suit most of the first rows (`find_marks`). The cells of a
    TSV are read verbatim, including quotation marks, as in GLUE's files, unless nearly all that
    begin with one are quoted by the rules of CSV, as in files of spreadsheets and pandas.

    Args:
        bad_rows: Collects rows with a different number of cells, and those that cannot be read; and
            a remark on a dialect that the file's name does not say.
        has_header: Not used for objects of JSON, and columns of Parquet, which have names.
        file: The same file, already open, at its beginning; its position shows how far it has been
            read.

    ValueError if the file cannot be read, has no row or more than MAX_COLUMNS columns.
    """
    form = form_of(path, file)
    if form == "columnar":
        opened = open_columnar(path, file)
        is_usual = kind_of(path) in _USUAL[opened.form]
        source = _Source(map(Record, opened.rows), opened.form, is_usual, names=opened.names)
        yield _table(source, path, bad_rows, has_header)
        return
    encoding = find_encoding(path, file)
    with open_text(path, file, encoding) as text:
        source = (_text_source if form == "text" else _json_source)(text, path, encoding)
        yield _table(source, path, bad_rows, has_header)


def _table(source: _Source, path: Path, bad_rows: BadRows, has_header: HasHeader) -> Table:
    first = first_items(source.records, lambda record: _size(record.cells), FIRST)
    if not first:
        raise _empty(path)
    is_named, width = source.names is not None, source.width
    columns, names = [*(source.names or ())], False
    body = [record.cells for record in first if not record.wrong]
    if not is_named:
        columns = [str(cell).strip(_BLANK) for cell in first[0].cells]
        said = has_header(columns)
        said = source.has_names if said is None else said
        wrong = first[0].wrong
        if said and wrong:
            raise ValueError(f"the first row of {str(path)!r} {wrong}. Correct it.")
        # Unless names are needed, a damaged first row is a bad row like any other.
        names = not wrong and are_names(columns, body[1:]) is not False if said is None else said
        if names and _has_row_names(body[1:], len(columns)):
            columns = ["", *columns]
        width = len(columns) if names else width
        columns = columns if names else [*map(str, range(1, (width or len(columns)) + 1))]
    check_width(len(columns), repr(str(path)))
    has_names = names or is_named
    header = [] if has_names else ["without names of columns"]
    dialect = ", ".join([source.form, *header, source.encoding.title])
    # In the others, a character 0 is written as such, and not the trace of a damage.
    is_text = source.form not in ("JSON", "JSON lines", "Parquet", "Arrow")
    damage, used = partial(source.encoding.damage, is_text=is_text), list[int]()

    def wrong_of(cells: Sequence[Any]) -> str:
        if width and len(cells) != width:
            return f"has {len(cells)} cells, but there are {width} columns"
        if not damage(cells):
            return ""
        places = [place for place in used or range(len(cells)) if place < len(cells)]
        damaged = ((damage([cells[place]]), columns[place]) for place in places)
        return next((f"{what} in column {name!r}" for what, name in damaged if what), "")

    def rows() -> Iterator[Row]:
        for number, (cells, line, wrong) in enumerate(chain(first[names:], source.records), 1):
            if width and len(cells) > width and not any(str(c).strip() for c in cells[width:]):
                cells = cells[:width]
            if wrong := wrong or wrong_of(cells):
                at = f" (line {line})" if line else ""
                bad_rows.add(f"row {number} of {str(path)!r}{at} {wrong}.")
            elif names and cells == first[0].cells:
                bad_rows.note(
                    f"Rows of {path.name!r} that repeat the names of columns are left out."
                )
            else:
                yield Row(number, cells)

    if source.encoding.is_guessed or not source.is_usual:
        wrong = " If letters are wrong, save it as UTF-8." * source.encoding.is_guessed
        bad_rows.note(f"{path.name!r} is read as {dialect}.{wrong}")
    first_rows = tuple(cells for cells in body[names:] if not width or len(cells) == width)
    return Table(tuple(columns), rows(), has_names, first_rows, dialect, used)


def _has_row_names(rows: Sequence[Sequence[Any]], width: int) -> bool:
    """Return whether rows have one cell more than names: their numbers, as R writes them."""
    numbers = [str(row[0]) for row in rows if len(row) == width + 1]
    return 1 < len(rows) == len(numbers) and all(
        number == str(place) for place, number in enumerate(numbers, start=int(numbers[0] != "0"))
    )


def _size(cells: Iterable[Any]) -> int:
    """Return the characters of a row, counting as many of a cell as FIRST_CELLS allows."""
    return sum(FIRST.size // FIRST_CELLS + len(str(cell)) for cell in cells)


def _empty(path: Path) -> ValueError:
    return ValueError(f"{str(path)!r} is empty. Give a table with a row for each example.")


def _text_source(text: TextIO, path: Path, encoding: Encoding) -> _Source:
    lines: Iterator[str] = dropwhile(lambda line: not line.strip(_BLANK), whole_lines(text, path))
    first = next(lines, "").lstrip("\ufeff")
    named = _SEP_LINE.fullmatch(first)
    lines = lines if named else chain([first], lines)
    start = first_items(filter(None, lines), len, FIRST)
    if not start:
        raise _empty(path)
    lines, kind = chain(start, lines), kind_of(path)
    marks = Delimiters(named[1], '"') if named else find_marks(start, kind)
    labelled = {"lines of fastText": _FAST_TEXT} if start[0].startswith("__label__") else {}
    if marks.separator == ONE_COLUMN and _are_labelled(start):
        labelled = labelled or {"texts with a label before each": _LABEL_FIRST}
    for form, pattern in labelled.items():
        cells = map(partial(_label_first, pattern), lines)
        return _Source(cells, form, False, encoding, width=2, has_names=False)
    widths = Counter(len(record.cells) for record in records(start, marks) if not record.wrong)
    width = widths.most_common(1)[0][0] if widths else 0
    sign = "," if kind == ".csv" else "\t"
    is_usual = marks in ((sign, ""), (sign, '"'), (ONE_COLUMN, '"'))
    rows = records(lines, marks, width)
    # Without quotes, a tab is in no text: later columns may be left out, as in STS-B.
    width = 0 if marks == ("\t", "") else width
    return _Source(rows, marks.describe(), is_usual, encoding, width=width)


def _are_labelled(lines: Sequence[str]) -> bool:
    """Return whether each line begins with a label, one of few that recur."""
    matches = [_LABEL_FIRST.match(line) for line in lines if line.strip()]
    counts = Counter(match[1] for match in matches if match)
    return counts.total() == len(matches) and 1 < len(counts) <= min(50, len(matches) // 2)


def _label_first(pattern: re.Pattern[str], line: str) -> Record:
    match = pattern.match(line)
    if match is None:
        return Record([line.strip()])
    names = (name.removeprefix("__label__") for name in re.split("[ ,]+", match[1].strip(" ,")))
    return Record(["|".join(names).rstrip(":"), match[2].strip()])


def _json_source(text: TextIO, path: Path, encoding: Encoding) -> _Source:
    kind = kind_of(path)
    has_lines, values = json_records(text, path, kind)
    first = first_items(values, lambda row: _size([row.cells]), FIRST)
    said = "JSON lines" if has_lines else "JSON", kind in JSON_LINES, encoding
    columns = dict.fromkeys(
        name for row in first if isinstance(row.cells, dict) for name in row.cells
    )
    check_width(len(columns), repr(str(path)))
    widths = Counter(len(row.cells) for row in first if isinstance(row.cells, list))
    if not columns and not widths:
        why = f"its first row {first[0].wrong or 'is no object'}" if first else "it has no row"
        raise ValueError(f"{str(path)!r} has no table in JSON: {why}. Write {FORMS}.")

    def cells(row: Record) -> Record:
        value = row.cells
        if columns and isinstance(value, dict):
            return Record([value.get(column) for column in columns])
        if not columns and isinstance(value, list):
            return row
        expected = "not an object" if columns else "not a list, as other rows are"
        return Record((), wrong=row.wrong or f"is a JSON {type(value).__name__}, {expected}")

    rows = map(cells, chain(first, values))
    if columns:
        return _Source(rows, *said, names=(*columns,))
    # Lists of JSON seldom begin with names.
    return _Source(rows, *said, width=widths.most_common(1)[0][0], has_names=False)
