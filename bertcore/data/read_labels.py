"""Texts that may have several labels each: listed in one column, or columns of 0 and 1."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import LabelsExample
from bertcore.data.files import BadRows
from bertcore.data.labels import some_labels
from bertcore.data.read_texts import (
    LABELS,
    TextForm,
    as_text,
    choose_texts,
    find_column,
    usual_column,
)
from bertcore.data.tables import HasHeader, Table, open_table

SEPARATOR = "|"
"""Between the labels of a cell."""
LABEL_LISTS = ("labels", *LABELS, "tags")
"""Usual names of a column of labels."""
YES, NO = frozenset({"1", "1.0", "true"}), frozenset({"0", "0.0", "false"})
"""What a cell of 0 or 1 may hold, in lower case."""
FORM = TextForm(task="multilabel")


class _Found(NamedTuple):
    """The labels of one row."""

    labels: tuple[str, ...]
    asked: tuple[str, ...] = ()
    """As in LabelsExample."""


_YES_OR_NO = (_Found(("0",)), _Found(("1",)))
"""What is found in a column of 0 and 1 that is taken for lists of labels."""


def read_labels(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[LabelsExample]:
    """Yield the texts of a table with their labels, one by one.

    `columns.label` is a column whose cells list labels separated by |, or, in JSON lines, a list of
    labels or an object of labels with 0 or 1; an empty cell is a text without a label. Or it is
    several columns of 0 and 1, by name or number, separated by commas: toxic,insult,threat.

    Args:
        path: .csv, .tsv, .txt with tabs or .jsonl, optionally compressed.
        columns: What to read.
        bad_rows: Collects rows that cannot be used.

    Raises:
        ValueError: If a column is missing (the message lists the columns), the file cannot be read,
            no row has a label, or the column has only 0 and 1.
    """
    label = columns.label
    num, has_labels, is_yes_or_no = 0, False, True
    with open_table(path, bad_rows, has_header=label_header(columns)) as table:
        text, pair = choose_texts(table.columns, path, FORM, columns)
        places = _label_places(table, label, path)
        names = [table.columns[place] for place in places]
        for row in table.rows:
            where, cells = f"row {row.number} of {str(path)!r}", row.cells
            if max(text, pair, *places) >= len(cells):
                bad_rows.add(f"{where} has {len(cells)} cells.")
                continue
            if not as_text(cells[text]):
                bad_rows.add(f"{where} has no text (column {table.columns[text]!r} is empty).")
                continue
            values = [cells[place] for place in places]
            try:
                found = _of_columns(names, values) if len(places) > 1 else _of_cell(values[0])
            except ValueError as error:
                bad_rows.add(f"{where} has {error}.")
                continue
            num += 1
            has_labels = has_labels or bool(found.labels)
            is_yes_or_no = is_yes_or_no and found in _YES_OR_NO
            second = None if pair < 0 else as_text(cells[pair])
            yield LabelsExample(as_text(cells[text]), second, found.labels, row.number, found.asked)
    listed = some_labels(names)
    if num and not has_labels:
        raise ValueError(
            f"no row of {str(path)!r} has a label (column {listed}). Check the column."
        )
    if num and is_yes_or_no:
        raise ValueError(
            f"the column {listed} of {str(path)!r} has only 0 and 1, which is one label, yes or "
            "no. Use --task classify, or name the columns of all labels, separated by commas."
        )


def label_header(columns: Columns) -> HasHeader:
    """Return a function that decides whether the first line of a table of labels is a header."""
    named = [name for name in (columns.text, columns.text_pair) if name]
    named += [] if columns.label is None else _parts(columns.label)
    by_number = bool(named) and all(name.isdigit() for name in named)

    def has_header(cells: Sequence[str]) -> bool:
        return not by_number or {cell.strip() for cell in cells}.issuperset(named)

    return has_header


def _parts(label: str) -> list[str]:
    return [part.strip() for part in label.split(",")]


def _label_places(table: Table, label: str | None, path: Path) -> list[int]:
    """Return the places of the label columns."""
    names = table.columns
    if label is None:
        option = "--label, or name the columns of 0 and 1 there, separated by commas"
        return [usual_column(names, LABEL_LISTS, option, "labels", path)]
    if label in names or "," not in label:
        return [find_column(names, label, "--label", path)]
    parts = _parts(label)
    twice = _repeated(parts)
    if twice is not None:
        raise ValueError(f"--label names the column {twice[:40]!r} twice. Name each column once.")
    return [find_column(names, name, "--label", path) for name in parts]


def _of_columns(names: Sequence[str], values: Sequence[Any]) -> _Found:
    """Return the labels whose cells are 1.

    Raises:
        ValueError: If a cell is neither 0 nor 1; the message is a phrase.
    """
    labels = []
    for name, value in zip(names, values, strict=True):
        cell = as_text(value).lower()
        if cell not in YES | NO:
            raise ValueError(
                f"{as_text(value)[:40]!r} for the label {name[:40]!r}; expected 0 or 1"
            )
        if cell in YES:
            labels.append(name)
    return _Found(tuple(labels), tuple(names))


def labels_of_cell(value: Any) -> tuple[str, ...]:
    """Return all labels that a cell names, including those its text does not have.

    Raises:
        ValueError: If it is not a list of labels.
    """
    found = _of_cell(value)
    return found.asked or found.labels


def _of_cell(value: Any) -> _Found:
    """Return the labels of one cell.

    Raises:
        ValueError: If it is not a list of labels; the message is a phrase.
    """
    if isinstance(value, str):
        value = value.strip()
        if value.startswith("["):
            value = _json_list(value)
        else:
            value = value.split(SEPARATOR) if value else []
    if isinstance(value, Mapping):
        return _of_columns(list(value), list(value.values()))
    items = [] if value is None else value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        raise ValueError("a list within its list of labels")
    labels = tuple(as_text(item) for item in items)
    if "" in labels:
        raise ValueError(f"an empty label among {len(labels)}: {SEPARATOR.join(labels)[:60]!r}")
    twice = _repeated(labels)
    if twice is not None:
        raise ValueError(f"the label {twice[:40]!r} twice")
    return _Found(labels)


def _repeated(names: Sequence[str]) -> str | None:
    """Return a name that occurs more than once; None if there is none."""
    name, count = max(Counter(names).items(), key=itemgetter(1), default=("", 0))
    return name if count > 1 else None


def _json_list(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise ValueError(
            f'the labels {text[:40]!r}, which is not a JSON list; write a|b, or ["a", "b"]'
        )
    return value
