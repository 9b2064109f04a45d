"""One column of a table of texts, such as gender or source, by the rows of its examples."""

from __future__ import annotations

from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import as_text
from bertcore.data.columns import find_column, text_header
from bertcore.data.exports import open_rows
from bertcore.data.files import BadRows
from bertcore.tasks.registry import find_task


def column_values(
    path: Path, task: str, column: str, *, columns: Columns = USUAL, option: str = "--by"
) -> dict[int, str]:
    """Return the value of each row in a column, by `Example.row`; "" if it has none.

    Args:
        task: Name of a task on texts, pairs or choices.
        column: Its name, or its number from 1.
        columns: The columns that the task reads.
        option: The option that named it, for messages.

    ValueError if the file cannot be read, there is no such column, or it is another task's.
    """
    if find_task(task).answers_each_token:
        raise ValueError(f"{option} is for tables of texts, not for the task {task!r}.")
    header, bad = text_header(columns), BadRows(skip=True)
    with open_rows(path, bad, has_header=header, label=columns.label) as table:
        place = find_column(table.columns, column, option, path)
        seen: dict[str, str] = {}  # each value is kept once, however many rows have it
        values = {}
        for row in table.rows:
            value = as_text(row.cells[place]) if place < len(row.cells) else ""
            values[row.number] = seen.setdefault(value, value)
        return values
