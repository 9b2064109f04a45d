"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def make_table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """Return an empty table; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def plain(text: str) -> Text:
    """Return text that is printed letter by letter: tokens may hold what rich takes for markup."""
    from rich.text import Text

    return Text(text)


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal."""
    from rich.console import Console

    Console().print(table)


def print_json(value: object) -> None:
    """Print a value as JSON; all characters beyond ASCII are escaped, for any terminal."""
    typer.echo(json.dumps(value, indent=2))
