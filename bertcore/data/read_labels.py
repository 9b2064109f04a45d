"""Texts that may have several labels each: listed in one column, or columns of 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import LabelsExample
from bertcore.data.files import BadRows
from bertcore.data.label_lists import listed
from bertcore.data.labels import UNLABELLED, label_text, list_separator, some_labels
from bertcore.data.read_texts import (
    TextForm,
    as_text,
    choose_texts,
    find_column,
    likely_column,
)
from bertcore.data.tables import HasHeader, Table, column_place, open_table
from bertcore.data.usual_columns import LABELS, Column, find, header_if, normal, summarize

SEPARATOR = "|"
"""Between the labels of a cell."""
LABEL_LISTS = ("labels", *LABELS, "tags")
"""Usual names of a column of labels."""
YES, NO = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})
"""What a cell of 0 or 1 may hold, in lower case."""
_LOOK_AT_ROWS = 20_000
"""Rows that decide how a column lists labels."""
FORM = TextForm(task="multilabel")


class _Found(NamedTuple):
    """The labels of one row."""

    labels: tuple[str, ...]
    asked: tuple[str, ...] = ()
    """As in LabelsExample."""


class _Form(NamedTuple):
    """How the cells of a column list labels, from its first rows."""

    is_flag: bool = False
    """Whether they are 0 and 1: the column is one label, yes or no."""
    num_flags: int = 0
    """Labels of cells such as [0, 1, 0], which are yes or no of each by its number; else 0."""
    separator: str = SEPARATOR


def read_labels(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[LabelsExample]:
    """Yield the texts of a table with their labels, one by one.

    `columns.label` is a column whose cells list labels: separated by |, ; or commas, as a list of
    JSON, Python or numpy, or as an object of labels with 0 or 1; or a list with a 0 or 1 for each
    label by its number. An empty cell or list is a text without a label. Or it is one or several
    columns of 0 and 1, by name or number, separated by commas: toxic,insult,threat. Texts with -1,
    NaN or null there were not labelled: they are left out, and counted.

    Args:
        path: .csv, .tsv, .txt with tabs or .jsonl, optionally compressed.
        bad_rows: Collects rows that cannot be used.

    ValueError if a column is missing (the message lists the columns), the file cannot be read, or
    no row has a label.
    """
    num, has_labels = 0, False
    with open_table(path, BadRows(skip=True), has_header=label_header(columns)) as table:
        text, pair = choose_texts(table, path, FORM, columns, bad_rows)
        places = _label_places(table, columns.label, path, bad_rows, taken=(text, pair))
        rows = (row.cells for row in islice(table.rows, _LOOK_AT_ROWS))
        first = [row[places[0]] for row in rows if len(row) > places[0]]
        form, name = _form(first), normal(table.columns[places[0]])
        if name == "label" and {"yes", "no"}.issuperset(map(as_text, first)):
            form = _Form()  # the names of two labels, since "label" is the name of none
    if form.separator != SEPARATOR:
        bad_rows.note(f"Labels of a text are separated by {form.separator!r}.")
    with open_table(path, bad_rows, has_header=label_header(columns)) as table:
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
                has_flags = len(places) > 1 or form.is_flag
                found = _of_columns(names, values) if has_flags else _of_cell(values[0], form)
            except ValueError as error:
                bad_rows.add(f"{where} has {error}.")
                continue
            if found is None:
                bad_rows.add_unlabelled(as_text(values[0]))
                continue
            num += 1
            has_labels = has_labels or bool(found.labels)
            second = None if pair < 0 else as_text(cells[pair])
            yield LabelsExample(as_text(cells[text]), second, found.labels, row.number, found.asked)
    if num and not has_labels:
        raise ValueError(
            f"no row of {str(path)!r} has a label (column {some_labels(names)}). Check the column."
        )


def label_header(columns: Columns) -> HasHeader:
    """Return a function that decides whether the first line of a table of labels is a header."""
    named = [name for name in (columns.text, columns.text_pair) if name]
    named += [] if columns.label is None else _parts(columns.label)
    return header_if(named)


def _parts(label: str) -> list[str]:
    return [part.strip() for part in label.split(",")]


def _label_places(
    table: Table, label: str | None, path: Path, bad_rows: BadRows, *, taken: Sequence[int]
) -> list[int]:
    names = table.columns
    if label is None:
        free = [place for place in range(len(names)) if place not in taken]
        rows = [[as_text(cell) for cell in row] for row in table.first]
        summary = summarize(names, rows)
        flags = flag_columns([summary[place] for place in free])
        if len(flags) > 1 and find([names[place] for place in free], LABEL_LISTS) is None:
            bad_rows.note(
                f"The labels of {path.name!r} are its {len(flags)} columns of 0 and 1, "
                f"{some_labels(flags)}. To choose others: --label."
            )
            return [column_place(names, name, path) for name in flags]
        option = "--label, or name the columns of 0 and 1 there, separated by commas"
        return [
            likely_column(
                table, path, LABEL_LISTS, "label", option, bad_rows, form=FORM, taken=taken
            )
        ]
    if label in names or "," not in label:
        return [find_column(names, label, "--label", path)]
    parts = _parts(label)
    twice = _repeated(parts)
    if twice is not None:
        raise ValueError(f"--label names the column {twice[:40]!r} twice. Name each column once.")
    return [find_column(names, name, "--label", path) for name in parts]


def flag_columns(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that say yes or no to a label each, with 0 and 1 or words.

    If some have numbers and some words, they are the more numerous ones.
    """
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for column in columns:
        if column.counts and {label_text(v).lower() for v in column.counts} <= YES | NO:
            kinds[column.is_number].append(column.name)
    return max(kinds.values(), key=len)


def _form(cells: Sequence[Any]) -> _Form:
    """Return how the cells of a column list labels."""
    texts = Counter(
        label_text(as_text(cell)) for cell in cells if not isinstance(cell, list | dict)
    )
    lists = [cell for cell in map(listed, cells) if isinstance(cell, list)]
    if not lists and texts and texts.keys() <= {"", *UNLABELLED, *YES, *NO} and YES & texts.keys():
        return _Form(is_flag=True)
    lengths = {len(cell) for cell in lists}
    is_hot = len(lengths) == 1 and all(
        label_text(as_text(item)) in ("0", "1") for cell in lists for item in cell
    )
    # The numbers of labels do not occur twice in a list.
    if is_hot and max(lengths) > 1 and any(len(set(map(str, cell))) < len(cell) for cell in lists):
        return _Form(num_flags=lengths.pop())
    several = any(SEPARATOR in cell for cell in texts)
    sign = None if several or lists else list_separator(texts, is_certain=False)
    return _Form(separator=sign or SEPARATOR)


def _of_columns(names: Sequence[str], values: Sequence[Any]) -> _Found | None:
    """Return the labels whose cells are 1; None if a cell says that nobody judged them.

    ValueError if a cell is neither 0 nor 1; the message is a phrase.
    """
    labels = []
    cells = [label_text(as_text(value)).lower() for value in values]
    for name, cell in zip(names, cells, strict=True):
        if cell not in YES | NO | {"", *UNLABELLED}:
            raise ValueError(f"{cell[:40]!r} for the label {name[:40]!r}; expected 0 or 1")
        if cell in YES:
            labels.append(name)
    return _Found(tuple(labels), tuple(names)) if set(cells) <= YES | NO else None


def labels_of_cell(value: Any, separator: str | None = None) -> tuple[str, ...]:
    """Return all labels that a cell names, including those its text does not have.

    Args:
        separator: The sign between labels; None: SEPARATOR.

    ValueError if it is not a list of labels.
    """
    found = _of_cell(value, _Form(separator=separator or SEPARATOR)) or _Found(())
    return found.asked or found.labels


def _of_cell(value: Any, form: _Form) -> _Found | None:
    """Return the labels of one cell; None if it says that nobody labelled the text.

    ValueError if it is not a list of labels; the message is a phrase.
    """
    found = listed(value)
    if isinstance(found, Mapping):
        return _of_columns(list(found), list(found.values()))
    if found is None:
        text = as_text(value)
        if value is None or (text and label_text(text) in ("", *UNLABELLED)):
            return None
        found = text.split(form.separator) if text else []
    items = found if isinstance(found, list) else [found]
    if any(isinstance(item, list | dict) for item in items):
        raise ValueError("a list within its list of labels")
    labels = tuple(label_text(as_text(item)) for item in items)
    if form.num_flags:
        if len(labels) != form.num_flags:
            raise ValueError(f"{len(labels)} labels of 0 and 1; expected {form.num_flags}")
        return _of_columns([str(i) for i in range(len(labels))], labels)
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
