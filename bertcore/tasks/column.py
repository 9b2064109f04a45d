"""One column of a labelled file, such as gender or source, by the rows of its examples."""

from __future__ import annotations

from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import as_text
from bertcore.data.columns import find_column
from bertcore.tasks.registry import find_task


def column_names(path: Path, task: str, columns: Columns = USUAL) -> tuple[str, ...]:
    """Return the columns of a labelled file, each name once; "1", "2", ... if there are no names.

    For SQuAD files they are the fields other than the questions, such as title.

    Args:
        task: Name of the task for which it is read.
        columns: The columns that the task reads.

    ValueError if the file cannot be read, or none of its columns describes a whole example.
    """
    with find_task(task).open_columns(path, columns) as table:
        return tuple(dict.fromkeys(table.columns))


def column_values(
    path: Path, task: str, column: str, *, columns: Columns = USUAL, option: str = "--by"
) -> dict[int, str]:
    """Return the value of each row in a column, by `Example.row`; "" if it has none.

    Args:
        path, task, columns: As for `column_names`.
        column: One of them.
        option: The option that named it, for messages.

    ValueError as `column_names`, or if there is no such column.
    """
    with find_task(task).open_columns(path, columns) as table:
        place = find_column(table.columns, column, option, path)
        seen: dict[str, str] = {}  # each value is kept once, however many rows have it
        values = {}
        for row in table.rows:
            value = as_text(row.cells[place]) if place < len(row.cells) else ""
            values[row.number] = seen.setdefault(value, value)
        return values
