"""Texts and pairs with labels or scores, from tables with names and from GLUE's own formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import (
    SEPARATOR,
    TRUTH,
    ListForm,
    as_text,
    decimal_sign,
    flags,
    label_text,
    labels_of,
    number_text,
    one_text,
)
from bertcore.data.columns import Places, TextForm, choose, text_header
from bertcore.data.examples import LabelsExample, TextExample
from bertcore.data.exports import UnansweredError, examples_of, open_rows
from bertcore.data.files import BadRows
from bertcore.data.labels import some_labels
from bertcore.data.tables import Table
from bertcore.data.usual_columns import normal

LARGEST_SCORE = 3.4e38
"""About what float32 holds."""
_LOOK_AT_ROWS = 20_000
"""Rows that decide how a column lists labels."""


def read_texts(
    path: Path, *, form: TextForm, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TextExample | LabelsExample]:
    """Yield the examples of a table one by one.

    GLUE's files without column names are recognised by their format: CoLA (source, label, mark,
    sentence) and STS-B (genre, file, year, index, score, sentence 1, sentence 2). In other tables a
    column that is not named is the first with a usual name, or else the likely one by the content
    of the first rows, of which a note is left.

    A column of several labels lists them: separated by |, ; or commas, as a list of JSON, Python or
    numpy, or as an object of labels with 0 or 1; or it has a 0 or 1 for each label by its number.
    An empty cell or list is a text without a label. Or they are columns of 0 and 1, by name or
    number, separated by commas: toxic,insult,threat. Texts with -1, NaN or null there were not
    labelled: they are left out, and counted.

    Args:
        path: As for `open_table`.
        form: What the task reads.
        columns: Those that were asked for.
        bad_rows: Collects rows that cannot be used.

    ValueError if a column is missing (the message lists the columns), the file cannot be read, or
    no row of several labels has one.
    """
    header = text_header(columns)
    lists = ListForm()
    if form.answer == "labels":
        with open_rows(path, BadRows(skip=True), has_header=header, label=columns.label) as table:
            places = choose(table, path, form, columns, BadRows())
            lists = _list_form(table, places)
        if lists.separator != SEPARATOR:
            bad_rows.note(f"Labels of a text are separated by {lists.separator!r}.")
    num, has_labels = 0, False
    with open_rows(path, bad_rows, has_header=header, label=columns.label) as table:
        places = choose(table, path, form, columns, bad_rows)
        table.use(places.text, places.pair, *places.labels)
        answer = _answer_of(table, form, places, lists)
        for example in examples_of(table, path, bad_rows, _reader(table, places, answer)):
            num, has_labels = num + 1, has_labels or any(example.labels)
            yield example
    if form.answer == "labels" and num and not has_labels:
        names = [table.columns[place] for place in places.labels]
        raise ValueError(
            f"no row of {str(path)!r} has a label (column {some_labels(names)}). Check the column."
        )


def _list_form(table: Table, places: Places) -> ListForm:
    place, *more = places.labels
    rows = (row.cells for row in islice(table.rows, _LOOK_AT_ROWS))
    first = [row[place] for row in rows if len(row) > place]
    if normal(table.columns[place]) == "label" and {"yes", "no"}.issuperset(map(as_text, first)):
        return ListForm()  # the names of two labels, since "label" is the name of none
    return ListForm(is_flag=True) if more else ListForm.of(first)


_Answer = Callable[[Sequence[Any]], Any]


def _answer_of(table: Table, form: TextForm, places: Places, lists: ListForm) -> _Answer:
    """Return what reads the answer from the cells of its columns.

    It raises UnansweredError where there is none, ValueError where it cannot be read.
    """
    names = [table.columns[place] for place in places.labels]
    place = places.labels[0]
    sign = decimal_sign(as_text(row[place]) for row in table.first if place < len(row))

    def labels(cells: Sequence[Any]) -> Any:
        found = flags(names, cells) if lists.is_flag else labels_of(cells[0], lists)
        if found is None:
            raise UnansweredError(as_text(cells[0]))
        return found

    def text(cells: Sequence[Any]) -> str:
        try:
            return one_text(cells[0])
        except ValueError as error:
            raise ValueError(f"{error} in column {names[0]!r}") from error

    def score(cells: Sequence[Any]) -> str:
        written = text(cells)
        if not label_text(written):
            raise UnansweredError(written)
        number = number_text(str(TRUTH.get(written.casefold(), written)), sign)
        if number is None or abs(float(number)) > LARGEST_SCORE:
            unclear = ", with a point before its decimals" if sign is None else ""
            raise ValueError(
                f"the score {written[:40]!r} in column {names[0]!r}; expected a number that "
                f"float32 can represent{unclear}"
            )
        return number

    def label(cells: Sequence[Any]) -> str:
        return label_text(text(cells))

    return {"labels": labels, "score": score, "label": label}[form.answer]


def _reader(
    table: Table, places: Places, answer_of: _Answer
) -> Callable[[Sequence[Any], int], Iterator[TextExample | LabelsExample]]:
    text_at, pair_at, labels_at = places
    needed = max(text_at, pair_at, *labels_at)

    def read(cells: Sequence[Any], row: int) -> Iterator[TextExample | LabelsExample]:
        if needed >= len(cells):
            raise ValueError(f"{len(cells)} cells")
        answer = answer_of([cells[place] for place in labels_at])
        text = as_text(cells[text_at])
        if not text:
            raise ValueError(f"no text (column {table.columns[text_at]!r} is empty)")
        pair = None if pair_at < 0 else as_text(cells[pair_at])
        if isinstance(answer, str):
            yield TextExample(text, pair, answer, row)
        else:
            yield LabelsExample(text, pair, answer.given, row, answer.asked)

    return read
