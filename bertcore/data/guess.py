"""The likely content of a labelled file, from its first rows: format, columns and task.

This is only a guess: the readers use what they are given.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.columns import (
    LABELS,
    SCORES,
    Column,
    TextForm,
    find,
    flag_columns,
    glue_form,
    is_score,
    likely_label,
    likely_pair,
    likely_text,
    lists_labels,
    summarize,
    text_header,
)
from bertcore.data.exports import open_rows
from bertcore.data.files import BadRows, check_width
from bertcore.data.read_rows import CHOICE_ANSWERS, has_choices, has_questions
from bertcore.data.read_tags import tag_columns, word_columns
from bertcore.data.tables import FIRST


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """The guessed content of a file."""

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
    layout = word_columns(path)
    if layout is not None and layout.is_columns:
        width = max((len(row) for row in layout.rows), default=0)
        check_width(width, repr(str(path)))
        columns = Columns(text=str(layout.word + 1), label=str(layout.tag % layout.width + 1))
        rows = tuple(map(tuple, layout.rows[: FIRST.num]))
        names = tuple(map(str, range(1, width + 1)))
        return Guess(columns=names, rows=rows, task="tag", chosen=columns)
    with open_rows(path, BadRows(skip=True), has_header=text_header(USUAL)) as table:
        names = table.columns
        rows = tuple(tuple(map(_as_text, row)) for row in table.first)
        dialect = table.dialect
    tagged = tag_columns(names, rows)
    if has_choices(names):
        answer = find(names, CHOICE_ANSWERS)
        task, chosen = "choice", Columns(label=None if answer is None else names[answer])
    elif has_questions(names):
        names, rows, task, chosen = (), (), "qa", USUAL
    elif not table.has_header and rows and glue_form(rows[0]) == "STS-B":
        task, chosen = "regress", Columns(text="6", text_pair="7", label="5")
    elif tagged is not None:
        task, chosen = "tag", tagged
    else:
        task, chosen = _of_texts(summarize(names, rows))
    return Guess(columns=names, rows=rows, task=task, chosen=chosen, dialect=dialect)


def _of_texts(columns: Sequence[Column]) -> tuple[str, Columns]:
    """Return the likely task of a table of texts, and its columns."""
    label, _ = likely_label(columns, TextForm(task="classify"))
    others = [column for column in columns if column.name != label]
    text, pair = likely_pair([column.name for column in columns]) or (likely_text(others)[0], None)
    several = _several_labels(columns, (text, pair))
    if several is not None:
        return "multilabel", Columns(text=text, text_pair=pair, label=several)
    task = "classify" if pair is None else "pair"
    if any(column.name == label and is_score(column) for column in columns):
        task = "regress"
    return task, Columns(text=text, text_pair=pair, label=label)


def _several_labels(columns: Sequence[Column], texts: Collection[str | None]) -> str | None:
    """Return the value for `Columns.label` if texts have several labels each; None otherwise."""
    others = [column for column in columns if column.name not in texts]
    named = find([column.name for column in others], (*LABELS, *SCORES))
    lists = [column.name for column in others if lists_labels(column)]
    if named is not None or lists:
        name = None if named is None else others[named].name
        return name if name in lists else lists[0] if name is None else None
    flags = flag_columns(others)
    return ",".join(flags) if len(flags) > 1 and not any("," in name for name in flags) else None


def _as_text(cell: Any) -> str:
    return "" if cell is None else cell.strip() if isinstance(cell, str) else json.dumps(cell)
