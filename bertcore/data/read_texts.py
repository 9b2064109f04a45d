"""Texts and pairs with labels or scores, from tables with names and from GLUE's own formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import TextExample
from bertcore.data.files import BadRows, listed_columns
from bertcore.data.label_lists import listed
from bertcore.data.labels import TRUTH, label_text
from bertcore.data.tables import HasHeader, Table, column_place, open_table
from bertcore.data.usual_columns import (
    LABELS,
    PAIRS,
    SCORES,
    TEXTS,
    find,
    header_if,
    is_finite,
    likely,
    summarize,
)

LARGEST_SCORE = 3.4e38
"""About what float32 holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """The fields a task reads from each row of a table."""

    task: str
    """Its name, for messages."""
    headerless: Literal["CoLA", "STS-B"] | None = None
    """GLUE's form without column names that it reads."""
    is_score: bool = False
    """Whether the answer is a number, in place of a label."""
    looks_for_pair: bool = False
    """Whether two columns with usual names for a pair are both read."""
    needs_pair: bool = False
    """Whether a table without a second text is refused."""


def read_texts(
    path: Path, *, form: TextForm, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TextExample]:
    """Yield the examples of a table one by one.

    GLUE's files without column names are recognised by their format: CoLA (source, label, mark,
    sentence) and STS-B (genre, file, year, index, score, sentence 1, sentence 2). In other tables a
    column that is not named is the first with a usual name, or else the likely one by the content
    of the first rows, of which a note is left.

    Args:
        path: As for `open_table`.
        form: What the task reads.
        bad_rows: Collects rows that cannot be used.

    ValueError if a column is missing (the message lists the columns), or the file cannot be read.
    """
    with open_table(path, bad_rows, has_header=text_header(columns)) as table:
        text, pair, label = _choose(table, path, form, columns, bad_rows)
        for row in table.rows:
            cells = row.cells
            if max(text, pair, label) >= len(cells):
                bad_rows.add(f"row {row.number} of {str(path)!r} has {len(cells)} cells.")
                continue
            where = f"row {row.number} of {str(path)!r}"
            answer, several = single_label(cells[label])
            if form.is_score and answer:
                answer = as_text(cells[label])
                answer = str(TRUTH.get(answer.casefold(), answer))
            if several is not None:
                bad_rows.add(f"{where} has {several} in column {table.columns[label]!r}.")
            elif not answer and form.is_score:
                bad_rows.add_unlabelled(as_text(cells[label]))
            elif form.is_score and not _is_score(answer):
                bad_rows.add(
                    f"{where} has the score {answer[:40]!r} in column {table.columns[label]!r}; "
                    "expected a number that float32 can represent."
                )
            elif not as_text(cells[text]):
                bad_rows.add(f"{where} has no text (column {table.columns[text]!r} is empty).")
            else:
                second = None if pair < 0 else as_text(cells[pair])
                yield TextExample(as_text(cells[text]), second, answer, row.number)


def text_header(columns: Columns) -> HasHeader:
    """Return a function that decides whether the first line of a table of texts is a header."""
    named = [name for name in (columns.text, columns.text_pair, columns.label) if name]
    by_name = header_if(named)

    def has_header(cells: Sequence[str]) -> bool | None:
        stripped = [cell.strip() for cell in cells]
        is_glue = not named and (_is_cola(stripped) or is_stsb(stripped))
        return False if is_glue else by_name(stripped)

    return has_header


def _choose(
    table: Table, path: Path, form: TextForm, wanted: Columns, bad_rows: BadRows
) -> tuple[int, int, int]:
    """Return the places of text, text B (-1: none) and label."""
    names = table.columns
    if not table.has_header and not (wanted.text or wanted.text_pair or wanted.label):
        first = [str(cell).strip() for cell in table.first[0]]
        if is_stsb(first) or _is_cola(first):
            is_cola = len(names) == 4
            if form.headerless != ("CoLA" if is_cola else "STS-B"):
                what = "single sentences" if is_cola else "pairs with scores"
                raise ValueError(
                    f"{str(path)!r} contains {what}, which the task {form.task!r} cannot use."
                )
            return (3, -1, 1) if is_cola else (5, 6, 4)
    text, pair = choose_texts(table, path, form, wanted, bad_rows)
    if wanted.label is not None:
        return text, pair, find_column(names, wanted.label, "--label", path)
    lists = (*SCORES, *LABELS) if form.is_score else (*LABELS, *SCORES)
    label = likely_column(
        table, path, lists, "label", "--label", bad_rows, form=form, taken=(text, pair)
    )
    return text, pair, label


def choose_texts(
    table: Table, path: Path, form: TextForm, wanted: Columns, bad_rows: BadRows
) -> tuple[int, int]:
    """Return the places of text and text B (-1: none).

    Args:
        path: Its file, for messages.
        form: What the task reads.
        wanted: The columns given by name.
        bad_rows: Gets a note on a column that is chosen by its content.

    ValueError if a column is missing, or none is likely.
    """
    names, pair = table.columns, -1
    if wanted.text_pair is not None:
        pair = find_column(names, wanted.text_pair, "--text-pair", path)
    text = -1 if wanted.text is None else find_column(names, wanted.text, "--text", path)
    if text < 0 and pair < 0 and form.looks_for_pair:
        for first, second in PAIRS:
            places = find(names, (first,)), find(names, (second,))
            if None not in places:
                text, pair = (column_place(names, names[place or 0], path) for place in places)
                break
    if text < 0:
        asked = {wanted.label, *(wanted.label or "").split(",")}
        taken = [pair, *(place for place, name in enumerate(names) if name in asked)]
        text = likely_column(table, path, TEXTS, "text", "--text", bad_rows, form=form, taken=taken)
    if pair < 0 and form.needs_pair:
        seconds = [second for _, second in PAIRS]
        place = find(names, [name for name in seconds if find((names[text],), (name,)) is None])
        if place is None:
            raise _none_likely(names, path, "second text", "--text-pair")
        pair = column_place(names, names[place], path)
    return text, pair


def likely_column(
    table: Table,
    path: Path,
    usual: Sequence[str],
    field: Literal["text", "label"],
    option: str,
    bad_rows: BadRows,
    *,
    form: TextForm,
    taken: Sequence[int] = (),
) -> int:
    """Return the place of the first column with a usual name, else of the likely one by content.

    Args:
        table, path, form, bad_rows: As for `choose_texts`.
        usual: Usual names.
        field: What it is for.
        option: That of the command, for messages.
        taken: Places of the other columns.

    ValueError if there is none.
    """
    names = table.columns
    free = [place for place in range(len(names)) if place not in taken]
    found = find([names[place] for place in free], usual)
    if found is not None:
        return column_place(names, names[free[found]], path)
    rows = [[as_text(cell) for cell in row] for row in table.first]
    columns = summarize(names, rows)
    chosen = likely([columns[place] for place in free], is_score=form.is_score)
    name = getattr(chosen, field)
    if name is None:
        raise _none_likely(names, path, field, option)
    bad_rows.note(
        f"The {field} of {path.name!r} is column {name[:40]!r}, by its content. To choose "
        f"another one: {option}."
    )
    return column_place(names, name, path)


def _none_likely(names: Sequence[str], path: Path, what: str, option: str) -> ValueError:
    if len(names) == 1:
        return ValueError(
            f"{str(path)!r} has one column, so there is none for the {what}: no tabs, semicolons, "
            "pipes or commas part its lines. Write a tab between text and label."
        )
    return ValueError(
        f"{str(path)!r} has no column with a usual name for the {what}; it has "
        f"{listed_columns(names)}. Name it with {option}."
    )


def find_column(names: Sequence[str], name: str, option: str, path: Path) -> int:
    """Return the place of a column that was given by an option, by name or by number from 1.

    ValueError if there is none of that name, or several.
    """
    if name not in names:
        if name.isdecimal() and 0 < int(name) <= len(names):
            return int(name) - 1
        place = find(names, (name,))
        if place is None:
            raise ValueError(
                f"{str(path)!r} has no column {name!r} for {option}; it has "
                f"{listed_columns(names)}."
            )
        name = names[place]
    return column_place(names, name, path)


def _is_cola(cells: Sequence[str]) -> bool:
    return len(cells) == 4 and cells[1] in ("0", "1") and cells[2] in ("", "*")


def is_stsb(cells: Sequence[str]) -> bool:
    """Return whether these are the cells of a line of GLUE's STS-B, which has no header."""
    return len(cells) >= 7 and cells[3].isdigit() and is_finite(cells[4])


def _is_score(text: str) -> bool:
    return is_finite(text) and abs(float(text)) <= LARGEST_SCORE


def single_label(cell: Any) -> tuple[str, str | None]:
    """Return the label of a cell, "" for none; and a phrase if it lists several."""
    items = listed(cell)
    if not isinstance(items, list | dict):
        return label_text(as_text(cell)), None
    if isinstance(items, list) and len(items) == 1 and not isinstance(items[0], list | dict):
        return label_text(as_text(items[0])), None
    is_nested = isinstance(items, list) and any(isinstance(item, list | dict) for item in items)
    what = (
        "spans of the text, which the task tag reads,"
        if is_nested
        else (f"a list of {len(items)} labels, which the task multilabel reads,")
    )
    return "", what


def as_text(value: Any) -> str:
    """Return a cell as text: JSON also has numbers, truth values and null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip()
