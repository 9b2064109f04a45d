"""The output of commands: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import typer

from bertcore.base.control_characters import escaped
from bertcore.base.json_data import plain_data

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

LEAST_LETTERS = 10
"""Of a cell in a line, if it has so many; else a table is printed in parts."""


def make_table(
    *columns: str, right: Collection[str] = (), title: str = "", rows: Iterable[Iterable[str]] = ()
) -> Table:
    """Return a table of texts, printed as they are; columns named in `right` are right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=plain(title) if title else None, title_justify="left")
    for name in columns:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(plain(name), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def tabulate(
    rows: Iterable[Any], *, title: str = "", columns: Collection[str] = (), most: int | None = None
) -> Table:
    """Return a table of dataclasses or mappings, a column for each of their values.

    Numbers have four digits and are right-aligned.

    Args:
        title: Printed above it.
        columns: The values that are shown, in this order; all of them if not given.
        most: Rows that are shown; all of them if not given.
    """
    values = [row if isinstance(row, Mapping) else asdict(row) for row in rows]
    shown = columns or dict.fromkeys(name for row in values for name in row)
    right = [name for name in shown if any(isinstance(row[name], int | float) for row in values)]
    cells = ([_cell(row[name]) for name in shown] for row in values[:most])
    return make_table(*map(str, shown), right=right, title=title, rows=cells)


def _cell(value: object) -> str:
    """Return a value as text; "" for what is missing.

    >>> _cell(0.123456), _cell((0.5, 1.0)), _cell(None), _cell(float("nan"))
    ('0.1235', '0.5 to 1', '', '')
    """
    if isinstance(value, tuple | list):
        return " to ".join(filter(None, map(_cell, value)))
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return "" if value is None else str(value)


def plain(text: str) -> Text:
    r"""Return text that is printed literally.

    Tokens may contain rich's markup, and characters that control a terminal or the writing
    direction; such characters are escaped.

    >>> str(plain("a[b]\x1b[31m"))
    'a[b]\\x1b[31m'
    """
    from rich.text import Text

    return Text(escaped(text))


def counted(number: int, one: str) -> str:
    """Return a number with the noun it counts, whose plural ends in s.

    >>> counted(1, "pair"), counted(1024, "pair")
    ('1 pair', '1,024 pairs')
    """
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal; characters that its encoding lacks are escaped."""
    from rich.console import Console

    console = Console()
    with console.capture() as captured:
        for part in _parts(table, console):
            console.print(part)
    encoding = sys.stdout.encoding or "utf-8"
    text = captured.get().encode(encoding, "backslashreplace").decode(encoding)
    typer.echo(text, nl=False)


def _parts(table: Table, console: Console) -> list[Table]:
    """Return a table, or several with its first column if a line has no room for all of them."""
    from rich.measure import measure_renderables

    parts, widths = [copy(table)], [1]  # of its edge, and of the columns of a part
    parts[0].columns = []
    for column in table.columns:
        cells = [column.header, *column.cells]
        letters = measure_renderables(console, console.options, cells).maximum
        width = min(letters, LEAST_LETTERS) + 3
        if sum(widths) + width > console.width and len(widths) > 2:
            parts.append(copy(table))
            parts[-1].title, parts[-1].columns = None, parts[0].columns[:1]
            widths = widths[:2]
        parts[-1].columns.append(column)
        widths.append(width)
    return parts


def print_json(value: object) -> None:
    """Print a value as JSON, with NaN as null and non-ASCII characters escaped."""
    typer.echo(json.dumps(plain_data(value), indent=2, allow_nan=False))
