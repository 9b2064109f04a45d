"""The likely content of a labelled file, from its first rows: format, columns and task.

This is only a guess: the readers use what they are given.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from bertcore.configs.columns import Columns
from bertcore.data.files import BadRows, check_width, kind_of, lines_of, open_text
from bertcore.data.labels import list_separator
from bertcore.data.read_labels import (
    LABEL_LISTS,
    NO,
    YES,
    labels_of_cell,
)
from bertcore.data.read_tags import cells_of, look_at_columns, tag_columns
from bertcore.data.read_texts import LABELS, PAIRS, SCORES, SINGLES, is_stsb
from bertcore.data.tables import open_table

FIRST_ROWS = 1000
"""Rows from which is guessed."""
FIRST_CELLS = 200_000
"""Cells from which is guessed, in a wide table."""
FIRST_CHARACTERS = 20_000_000
"""Characters from which is guessed, in long rows."""
_MOST_CLASSES = 50
"""Different values of a column that is taken for labels by its content."""
_MORE_LABELS = (
    *("labels", "target", "sentiment", "rating", "stars", "intent", "topic", "polarity", "y"),
    *("answer", "tag", "emotion", "category_id", "label_text"),
)
_MORE_TEXTS = (
    "sentence1",
    "sentence_a",
    "comment",
    "body",
    "message",
    "tweet",
    "document",
    "title",
)
_MORE_SCORES = ("relatedness", "grade", "value")

Form = Literal["table", "tags", "questions"]


@dataclass(frozen=True, slots=True)
class Column:
    """The content of one column in the first rows."""

    name: str
    """Its name, or its number from 1 where the file has no names."""
    num_filled: int
    counts: Counter[str]
    """Of each value."""
    mean_length: float
    """Characters."""
    is_number: bool
    """Whether every filled cell is a finite number."""

    @property
    def is_whole(self) -> bool:
        """Whether every filled cell is an integer."""
        return self.is_number and all(float(value).is_integer() for value in self.counts)

    @property
    def may_be_label(self) -> bool:
        """Whether it has few values, each several times."""
        return 2 <= len(self.counts) <= min(_MOST_CLASSES, self.num_filled // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """The guessed content of a file."""

    form: Form
    columns: tuple[str, ...]
    """Of a table, by name or number; those of tags in columns are numbers; () for questions."""
    rows: tuple[tuple[str, ...], ...]
    """The first ones, as text; a sentence's word with its columns is a row; () for questions."""
    task: str
    """Likely name of the task."""
    chosen: Columns
    """Likely columns; `label` is None where none is likely."""


def guess(path: Path) -> Guess:
    """Return the likely content of a file, from at most FIRST_ROWS rows.

    Raises:
        ValueError: If it cannot be read.
    """
    kind = kind_of(path)
    if kind == ".json" and _is_squad(path):
        return Guess(form="questions", columns=(), rows=(), task="qa", chosen=Columns())
    if kind == ".conllu" or (kind not in (".csv", ".json", ".jsonl", ".ndjson") and _is_tags(path)):
        return _guess_tags(path)
    return _guess_table(path)


def summarize(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    """Return a summary of each column of the rows."""
    summaries = []
    for place, name in enumerate(columns):
        filled = [row[place] for row in rows if place < len(row) and row[place]]
        summaries.append(
            Column(
                name,
                len(filled),
                Counter(filled),
                sum(map(len, filled)) / max(1, len(filled)),
                bool(filled) and all(map(_is_number, filled)),
            )
        )
    return tuple(summaries)


def _guess_table(path: Path) -> Guess:
    """Return the guess for a table with columns of texts, or of lists of words and tags."""
    with open_table(path, BadRows(skip=True), has_header=lambda cells: False) as table:
        cells = ([_as_text(cell) for cell in row.cells] for row in table.rows)
        first = _first_rows(cells)
        names, is_json = table.columns, table.has_header
    width = len(names)
    if not is_json and is_stsb(first[0]):
        columns = Columns(text="6", text_pair="7", label="5")
        return _made("table", names, first, "regress", columns)
    if not is_json and not _looks_headerless(first):
        names, first = tuple(first[0]), first[1:]
    rows = [row for row in first if len(row) == width]
    lowered = [name.lower() for name in names]
    tagged = tag_columns(names, rows[:20])
    if tagged is not None:
        return _made("table", names, rows, "tag", tagged)
    if {"sent1", "ending0", "ending1"} <= set(lowered):
        label = _find(names, ("label",))
        return _made("table", names, rows, "choice", Columns(label=label))
    task, chosen = guess_columns(summarize(names, rows))
    return _made("table", names, rows, task, chosen)


def guess_columns(columns: Sequence[Column]) -> tuple[str, Columns]:
    """Return the likely task of a table of texts, and its columns."""
    by_name = {column.name: column for column in columns}
    names = list(by_name)
    pair = next(
        ((a, b) for a, b in PAIRS if _find(names, (a,)) and _find(names, (b,))),
        None,
    )
    label = _find(names, (*LABELS, *_MORE_LABELS)) or _find(names, (*SCORES, *_MORE_SCORES))
    if label is None:
        few = [column for column in columns if column.may_be_label]
        label = min(few, key=lambda c: (c.mean_length, len(c.counts))).name if few else None
    if pair is not None:
        text, second = _find(names, pair[:1]), _find(names, pair[1:])
    else:
        named = _find([name for name in names if name != label], (*SINGLES, *_MORE_TEXTS))
        others = [column for column in columns if column.name != label and not column.is_number]
        longest = max(others, key=lambda c: c.mean_length).name if others else None
        text, second = named or longest, None
    several = _several_labels(columns, {text, second})
    if several is not None:
        return "multilabel", Columns(text=text, text_pair=second, label=several)
    is_score = label is not None and _is_score(by_name[label])
    task = "regress" if is_score else "classify" if second is None else "pair"
    return task, Columns(text=text, text_pair=second, label=label)


def _several_labels(columns: Sequence[Column], texts: Collection[str | None]) -> str | None:
    """Return the value for `Columns.label` if texts have several labels each; None otherwise."""
    others = [column for column in columns if column.name not in texts]
    usual = (*LABEL_LISTS, *_MORE_LABELS, *SCORES, *_MORE_SCORES)
    named = _find([column.name for column in others], usual)
    lists = [column.name for column in others if _lists_labels(column)]
    if named is not None or lists:
        return named if named in lists else lists[0] if named is None else None
    flags = [c.name for c in others if {x.lower() for x in c.counts} <= YES | NO and c.counts]
    return ",".join(flags) if len(flags) > 1 and not any("," in name for name in flags) else None


def _lists_labels(column: Column) -> bool:
    """Whether cells list few labels, as JSON and the like or with a sign between them."""
    separator = list_separator(column.counts)
    labels: set[str] = set()
    for cell in column.counts:
        try:
            labels.update(labels_of_cell(cell, separator))
        except ValueError:
            return False
    is_list = separator is not None or any(cell[:1] in ("[", "{") for cell in column.counts)
    return is_list and 2 <= len(labels) <= _MOST_CLASSES


def _is_score(column: Column) -> bool:
    """Whether numbers are an amount rather than the names of classes."""
    if not column.is_number:
        return False
    is_called_so = _find((column.name,), SCORES) is not None and column.name.lower() != "label"
    return is_called_so or not column.is_whole or len(column.counts) > _MOST_CLASSES


def _find(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """Return the first name that is one of those wanted, ignoring case."""
    lowered = {name.lower(): name for name in reversed(names)}
    return next((lowered[name.lower()] for name in wanted if name.lower() in lowered), None)


def _looks_headerless(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is data: a value of it recurs in a column of labels."""
    if not rows:
        return False
    head, body = rows[0], rows[1:]
    columns = summarize(head, body)
    return any(
        column.may_be_label and (column.counts[cell] > 1 or (column.is_number and _is_number(cell)))
        for cell, column in zip(head, columns, strict=True)
    )


def _made(
    form: Form,
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    task: str,
    chosen: Columns,
) -> Guess:
    return Guess(
        form=form, columns=tuple(names), rows=tuple(map(tuple, rows)), task=task, chosen=chosen
    )


def _is_tags(path: Path) -> bool:
    """Return whether a file has one word per line with its columns, and blank lines in between."""
    layout = look_at_columns(path)
    return layout.has_blanks and layout.width >= 2 and layout.share > 0.9 and layout.is_short


def _guess_tags(path: Path) -> Guess:
    layout = look_at_columns(path)
    with open_text(path) as file:
        kept = [line for line in _first_lines(file, path) if line.strip()]
    rows = [cells_of(line) for line in kept if not line.startswith(("#\t", "# ", "-DOCSTART-"))]
    width = max((len(row) for row in rows), default=0)
    check_width(width, repr(str(path)))
    names = tuple(map(str, range(1, width + 1)))
    tag = layout.tag % max(1, layout.width)
    chosen = Columns(text=str(layout.word + 1), label=str(tag + 1))
    return _made("tags", names, rows[layout.has_header :], "tag", chosen)


def _first_rows(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return the first rows, at least one; fewer if they are wide or long."""
    first: list[list[str]] = []
    num_cells = num_characters = 0
    for row in rows:
        first.append(row)
        num_cells, num_characters = num_cells + len(row), num_characters + sum(map(len, row))
        if (
            len(first) == FIRST_ROWS
            or num_cells >= FIRST_CELLS
            or num_characters >= FIRST_CHARACTERS
        ):
            break
    return first


def _first_lines(file: TextIO, path: Path) -> list[str]:
    return [line for [line] in _first_rows([line] for line in lines_of(file, path))]


def _is_squad(path: Path) -> bool:
    """Return whether a .json file is one object over several lines, or has SQuAD's field."""
    with open_text(path) as file:
        first = next((line for line in lines_of(file, path) if line.strip()), "")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return True
    return isinstance(value, dict) and "data" in value


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _as_text(cell: Any) -> str:
    return "" if cell is None else cell.strip() if isinstance(cell, str) else json.dumps(cell)
