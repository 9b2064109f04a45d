"""Tables read into dataclasses: a column for each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from bertcore.data.files import BadRows, listed_columns
from bertcore.data.tables import always, column_place, open_table

Record = TypeVar("Record")


def read_records(
    path: Path,
    record: Callable[..., Record],
    columns: Mapping[str, str],
    *,
    expected: str,
    defaults: Mapping[str, str] = MappingProxyType({}),
    bad_rows: BadRows | None = None,
) -> tuple[Record, ...]:
    """Return a record for each row of a table or of JSON lines; spaces around cells are removed.

    Args:
        path: .csv, .tsv or .jsonl, optionally compressed as .gz or .xz.
        record: Called with the fields by name, texts, and `row`, the row's number, from 1.
        columns: The column of each field.
        expected: A sentence on the columns, for the message where one is missing.
        defaults: Of fields whose column may be missing, or empty.
        bad_rows: Collects rows that cannot be used; None rejects them.

    ValueError if a column is missing or there twice, a row cannot be used, or no row is left.
    """
    bad_rows = BadRows() if bad_rows is None else bad_rows
    records, places = [], {}
    with open_table(path, bad_rows, has_header=always) as table:
        for field, column in columns.items():
            if column in table.columns:
                places[field] = column_place(table.columns, column, path)
            elif field not in defaults:
                raise ValueError(
                    f"{str(path)!r} has no column {column!r}; it has "
                    f"{listed_columns(table.columns)}. {expected}"
                )
        table.use(*places.values())
        for row in table.rows:
            cells = {field: str(row.cells[place] or "").strip() for field, place in places.items()}
            values = {field: cells.get(field) or defaults.get(field, "") for field in columns}
            empty = [columns[field] for field, value in values.items() if not value]
            if empty:
                bad_rows.add(f"row {row.number} of {str(path)!r} is empty in column {empty[0]!r}.")
            else:
                records.append(record(**values, row=row.number))
    if not records:
        raise ValueError(f"{str(path)!r} has no row to use. {bad_rows.first}".rstrip())
    return tuple(records)
