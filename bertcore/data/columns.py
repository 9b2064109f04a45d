"""The columns of a table that a task reads: named, or by usual names, or by content."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from bertcore.configs.columns import Columns
from bertcore.data.cells import (
    NO,
    SEPARATOR,
    YES,
    ListForm,
    are_spans,
    as_text,
    check_once,
    is_finite,
    label_text,
    labels_of,
    list_separator,
)
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.tables import HasHeader, Table, column_place
from bertcore.data.usual_columns import (
    LABELS,
    MOST_CLASSES,
    PAIRS,
    SCORES,
    TEXTS,
    Column,
    find,
    has_usual_name,
    normal,
    summarize,
)

LABEL_LISTS = ("labels", *LABELS, "tags")
"""Usual names of a column of labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """The fields a task reads from each row of a table."""

    task: str
    """Its name, for messages."""
    headerless: Literal["CoLA", "STS-B"] | None = None
    """GLUE's form without column names that it reads."""
    answer: Literal["label", "labels", "score"] = "label"
    looks_for_pair: bool = False
    """Whether two columns with usual names for a pair are both read."""
    needs_pair: bool = False
    """Whether a table without a second text is refused."""

    @property
    def usual(self) -> tuple[str, ...]:
        """Usual names of the column of answers, the likeliest first."""
        if self.answer == "labels":
            return LABEL_LISTS
        return (*SCORES, *LABELS) if self.answer == "score" else (*LABELS, *SCORES)


class Places(NamedTuple):
    """The columns that are read, from 0."""

    text: int
    pair: int
    """Of the second text; -1: none."""
    labels: tuple[int, ...]
    """That of the label, score or list; or those of 0 and 1 that are a label each."""


# ---- by name and content ----


def likely_label(columns: Sequence[Column], form: TextForm) -> tuple[str | None, bool]:
    """Return the likely column of answers, and whether its name says so."""
    plain = [column for column in columns if not _has_spans(column)]
    for among in (plain, columns):  # spans beside labels are another task's
        place = find([column.name for column in among], form.usual)
        if place is not None:
            return among[place].name, True
    fit = [column for column in columns if _may_be_answer(column, form)]
    best = min(fit, key=lambda column: (column.mean_length, len(column.counts)), default=None)
    return None if best is None else best.name, False


def likely_text(columns: Sequence[Column], label: str | None = None) -> tuple[str | None, bool]:
    """Return the likely column of texts, and whether its name says so.

    The column of answers, `label`, is none of texts unless its name says so.
    """
    place = find([column.name for column in columns], TEXTS)
    if place is not None and not columns[place].is_number:
        return columns[place].name, True
    texts = [one for one in columns if one.num_filled and not one.is_number and one.name != label]
    # One long word a cell is a key, a hash or a link.
    texts = [
        one for one in texts if not all(c.isascii() and len(c.split()) == 1 for c in one.counts)
    ] or texts
    best = max(texts, key=lambda column: column.mean_length, default=None)
    return None if best is None else best.name, False


def likely_pair(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns of two texts with usual names."""
    places = ((find(names, (first,)), find(names, (second,))) for first, second in PAIRS)
    both = ((names[a], names[b]) for a, b in places if a is not None and b is not None)
    return next(both, None)


def flag_columns(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that say yes or no to a label each, with 0 and 1 or words.

    If some have numbers and some words, they are the more numerous ones.
    """
    kinds: dict[bool, list[str]] = {True: [], False: []}
    for column in columns:
        if column.counts and {label_text(v).lower() for v in column.counts} <= YES | NO:
            kinds[column.is_number].append(column.name)
    return max(kinds.values(), key=len)


def lists_labels(column: Column) -> bool:
    """Return whether cells list few labels, as JSON and the like or with a sign between them."""
    separator = None if are_decimals(column) else list_separator(column.counts)
    form = ListForm(separator=separator or SEPARATOR)
    try:
        said = [labels_of(cell, form) for cell in column.counts]
    except ValueError:
        return False
    labels = {name for one in said if one for name in one.asked or one.given}
    are_few = separator != "," or len(labels) <= len(column.counts)
    is_list = separator is not None or any(cell[:1] in ("[", "{") for cell in column.counts)
    return is_list and are_few and 2 <= len(labels) <= MOST_CLASSES


def are_decimals(column: Column) -> bool:
    """Return whether commas stand before decimals, as in 2,5, and not between labels 2 and 5."""
    pairs = [re.fullmatch(r"(\d+),(\d+)", cell) for cell in column.counts if "," in cell]
    name = normal(column.name)
    if not column.is_number or not pairs or name in ("labels", "tags"):
        return False
    are_all = len(pairs) == len(column.counts) or (name in SCORES and name != "label")
    # Numbers of labels stand in their order: 2,27.
    return are_all or any(one is None or int(one[1]) >= int(one[2]) for one in pairs)


def is_score(column: Column) -> bool:
    """Return whether numbers are an amount rather than the names of classes."""
    is_called_so = normal(column.name) in SCORES and normal(column.name) != "label"
    is_amount = is_called_so or not column.is_whole or len(column.counts) > MOST_CLASSES
    return column.is_number and is_amount


def _has_spans(column: Column) -> bool:
    return any(cell[:1] in "[{" and are_spans(cell) for cell in [*column.counts][:20])


def _may_be_answer(column: Column, form: TextForm) -> bool:
    if form.answer != "score":
        return column.may_be_label
    return column.is_number and not (column.is_whole and len(column.counts) == column.num_filled)


# ---- of a table ----


def text_header(columns: Columns) -> HasHeader:
    """Return a function that decides whether the first line of a table of texts is a header."""
    labels = [] if columns.label is None else [part.strip() for part in columns.label.split(",")]
    named = [name for name in (columns.text, columns.text_pair, *labels) if name]

    def has_header(cells: Sequence[str]) -> bool | None:
        cells = [cell.strip() for cell in cells]
        if not named:
            return False if glue_form(cells) else None
        has_all = {*cells}.issuperset(named)
        return has_all or not all(map(str.isdecimal, named)) or has_usual_name(cells)

    return has_header


def glue_form(cells: Sequence[str]) -> Literal["CoLA", "STS-B"] | None:
    """Return the data set of GLUE without a header that has a line of such cells."""
    if len(cells) == 4 and cells[1] in ("0", "1") and cells[2] in ("", "*"):
        return "CoLA"
    return "STS-B" if len(cells) >= 7 and cells[3].isdigit() and is_finite(cells[4]) else None


def choose(table: Table, path: Path, form: TextForm, wanted: Columns, bad_rows: BadRows) -> Places:
    """Return the columns of a table that a task reads.

    Args:
        wanted: Columns that were asked for, by name or by number from 1.
        bad_rows: Gets a note on a column that is chosen by its content.

    ValueError if a column is missing (the message lists the columns), or none is likely.
    """
    names = table.columns
    if not table.has_header and not (wanted.text or wanted.text_pair or wanted.label):
        glue = glue_form([str(cell).strip() for cell in next(iter(table.first), ())])
        if glue and glue == form.headerless:
            return Places(3, -1, (1,)) if glue == "CoLA" else Places(5, 6, (4,))
        if glue and form.answer != "labels":
            what = "single sentences" if glue == "CoLA" else "pairs with scores"
            raise ValueError(
                f"{str(path)!r} contains {what}, which the task {form.task!r} cannot use."
            )

    def place(name: str | None, option: str) -> int:
        return -1 if name is None else find_column(names, name, option, path)

    text, pair = place(wanted.text, "--text"), place(wanted.text_pair, "--text-pair")
    labels = _wanted_labels(names, wanted.label, path)
    summary = summarize(names, [[as_text(cell) for cell in row] for row in table.first])
    if text < 0 and pair < 0 and form.looks_for_pair:
        usual = likely_pair([name for i, name in enumerate(names) if i not in labels])
        if usual is not None:
            text, pair = (column_place(names, name, path) for name in usual)

    def pick(what: Literal["text", "label"], taken: Collection[int], option: str) -> int:
        free = [column for i, column in enumerate(summary) if i not in taken]
        name, is_named = likely_label(free, form)
        if what == "text":
            name, is_named = likely_text(free, None if labels else name)
        if name is None:
            raise none_likely(names, path, what, option)
        if not is_named:
            bad_rows.note(
                f"The {what} of {path.name!r} is column {name[:40]!r}, by its content. To choose "
                f"another one: {option.partition(',')[0]}."
            )
        return column_place(names, name, path)

    text = text if text >= 0 else pick("text", {pair, *labels}, "--text")
    if pair < 0 and form.needs_pair:
        seconds = [second for _, second in PAIRS if find((names[text],), (second,)) is None]
        found = find(names, seconds)
        if found is None:
            raise none_likely(names, path, "second text", "--text-pair")
        pair = column_place(names, names[found], path)
    option = "--label"
    if not labels and form.answer == "labels":
        option += ", or name the columns of 0 and 1 there, separated by commas"
        free = [column for i, column in enumerate(summary) if i not in (text, pair)]
        flags = flag_columns(free)
        if len(flags) > 1 and find([column.name for column in free], LABEL_LISTS) is None:
            bad_rows.note(
                f"The labels of {path.name!r} are its {len(flags)} columns of 0 and 1, "
                f"{listed_columns(flags)}. To choose others: --label."
            )
            labels = tuple(column_place(names, name, path) for name in flags)
    return Places(text, pair, labels or (pick("label", {text, pair}, option),))


def _wanted_labels(names: Sequence[str], label: str | None, path: Path) -> tuple[int, ...]:
    if label is None:
        return ()
    parts = [label] if label in names else [part.strip() for part in label.split(",")]
    try:
        check_once(parts)
    except ValueError as error:
        raise ValueError(f"--label names {error}. Name each column once.") from error
    return tuple(find_column(names, name, "--label", path) for name in parts)


def find_column(
    names: Sequence[str],
    name: str | None,
    option: str,
    path: Path,
    *,
    usual: Sequence[str] = (),
    what: str = "",
    taken: Collection[str] = (),
) -> int:
    """Return the place of a column that was given by an option, by name or by number from 1.

    Without a name it is the first one that is usual for what it holds, and not taken.

    ValueError if there is none, or several have the name.
    """
    if name is None or name not in names:
        if name is not None and name.isdecimal() and 0 < int(name) <= len(names):
            return int(name) - 1
        free = [one for one in names if name is not None or one not in taken]
        place = find(free, usual if name is None else (name,))
        if place is None and name is not None:
            raise ValueError(
                f"{str(path)!r} has no column {name!r} for {option}; it has "
                f"{listed_columns(names)}."
            )
        if place is None:
            raise none_likely(names, path, what, option)
        name = free[place]
    return column_place(names, name, path)


def none_likely(names: Sequence[str], path: Path, what: str, option: str) -> ValueError:
    """Return the error of a table in which no column has what a task needs."""
    if len(names) == 1:
        return ValueError(
            f"{str(path)!r} has one column, so there is none for the {what}: no tabs, semicolons, "
            "pipes or commas part its lines. Write a tab between text and label."
        )
    return ValueError(
        f"{str(path)!r} has no column with a usual name for the {what}; it has "
        f"{listed_columns(names)}. Name it with {option}."
    )
