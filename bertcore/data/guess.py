"""The likely content of a labelled file, from its first rows: format, columns and task.

This is only a guess: the readers use what they are given.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.files import BadRows, check_width, kind_of
from bertcore.data.labels import list_separator
from bertcore.data.read_choices import ANSWERS, has_choices
from bertcore.data.read_labels import flag_columns, labels_of_cell
from bertcore.data.read_questions import has_questions
from bertcore.data.read_tags import look_at_columns, tag_columns
from bertcore.data.read_texts import is_stsb, text_header
from bertcore.data.tables import FIRST, form_of, open_table
from bertcore.data.usual_columns import LABELS, SCORES, Column, find, likely, normal, summarize

_MOST_CLASSES = 50
"""Different values of a column that is taken for labels by its content."""

Form = Literal["table", "tags", "questions"]


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
    dialect: str = ""
    """How the file becomes a table, as a phrase; "" for tags in columns."""


def guess(path: Path) -> Guess:
    """Return the likely content of a file, from its FIRST rows; ValueError if it cannot be read."""
    is_text = form_of(path) == "text" and kind_of(path) != ".csv"
    return (_guess_tags(path) if is_text else None) or _guess_table(path)


def _guess_table(path: Path) -> Guess:
    """Return the guess for a table with columns of texts, or of lists of words and tags."""
    with open_table(path, BadRows(skip=True), has_header=text_header(USUAL)) as table:
        names = table.columns
        rows = [[_as_text(cell) for cell in row] for row in table.first]
        dialect = table.dialect.describe()
    if has_choices(names):
        made = _made("table", names, rows, "choice", Columns(label=_name(names, ANSWERS)))
        return replace(made, dialect=dialect)
    if has_questions(names):
        return replace(_made("questions", (), (), "qa", Columns()), dialect=dialect)
    tagged = tag_columns(names, rows)
    if not table.has_header and is_stsb(rows[0]):
        task, chosen = "regress", Columns(text="6", text_pair="7", label="5")
    elif tagged is not None:
        task, chosen = "tag", tagged
    else:
        task, chosen = guess_columns(summarize(names, rows))
    return replace(_made("table", names, rows, task, chosen), dialect=dialect)


def _name(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    place = find(names, wanted)
    return None if place is None else names[place]


def guess_columns(columns: Sequence[Column]) -> tuple[str, Columns]:
    """Return the likely task of a table of texts, and its columns."""
    chosen = likely(columns)
    several = _several_labels(columns, {chosen.text, chosen.text_pair})
    if several is not None:
        return "multilabel", replace(chosen, label=several)
    label = next((column for column in columns if column.name == chosen.label), None)
    is_score = label is not None and _is_score(label)
    single = "classify" if chosen.text_pair is None else "pair"
    return "regress" if is_score else single, chosen


def _several_labels(columns: Sequence[Column], texts: Collection[str | None]) -> str | None:
    """Return the value for `Columns.label` if texts have several labels each; None otherwise."""
    others = [column for column in columns if column.name not in texts]
    named = find([column.name for column in others], (*LABELS, *SCORES))
    lists = [column.name for column in others if _lists_labels(column)]
    if named is not None or lists:
        name = None if named is None else others[named].name
        return name if name in lists else lists[0] if name is None else None
    flags = flag_columns(others)
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
    is_called_so = normal(column.name) in SCORES and normal(column.name) != "label"
    return is_called_so or not column.is_whole or len(column.counts) > _MOST_CLASSES


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


def _guess_tags(path: Path) -> Guess | None:
    """Return the guess for a file with one word per line; None if it is none."""
    layout = look_at_columns(path)
    is_tags = layout.has_blanks and layout.width >= 2 and layout.share > 0.9 and layout.is_short
    if not is_tags and kind_of(path) != ".conllu":
        return None
    width = max((len(row) for row in layout.rows), default=0)
    check_width(width, repr(str(path)))
    names = tuple(map(str, range(1, width + 1)))
    tag = layout.tag % max(1, layout.width)
    chosen = Columns(text=str(layout.word + 1), label=str(tag + 1))
    return _made("tags", names, layout.rows[: FIRST.num], "tag", chosen)


def _as_text(cell: Any) -> str:
    return "" if cell is None else cell.strip() if isinstance(cell, str) else json.dumps(cell)
