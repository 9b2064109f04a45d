"""Arrays and results as tables: a row for each cell, or for each item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..on_demand import pd

if TYPE_CHECKING:
    from bertcore.training.tasks.judged import WrongAnswer


def cell_table(
    rows: Mapping[str, Iterable[Any]],
    columns: Mapping[str, Iterable[Any]] | pd.DataFrame,
    **values: ArrayLike,
) -> pd.DataFrame:
    """Return a row for each cell of arrays [R, C], row by row.

    Args:
        rows: What each row is, by the names of the table's columns; [R] each.
        columns: What each column is; [C] each.
        values: The arrays; one of another shape is broadcast.

    >>> cell_table({"layer": [0, 1]}, {"head": [0, 1]}, bits=[[1, 2], [3, 4]]).values.tolist()
    [[0, 0, 1], [0, 1, 2], [1, 0, 3], [1, 1, 4]]
    """
    return crossed([pd.DataFrame(rows), pd.DataFrame(columns)], values)


def crossed(axes: Sequence[pd.DataFrame], values: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Return a row for each combination of the rows of some tables, with the cells of arrays.

    Args:
        values: Arrays with a dimension for each table; one with fewer is repeated along the last.
    """
    table, shape = axes[0], tuple(map(len, axes))
    for axis in axes[1:]:
        table = table.merge(axis, how="cross")
    for name, of in values.items():
        cells = np.asarray(of)
        cells = cells.reshape(cells.shape + (1,) * (len(shape) - cells.ndim))
        flat = np.broadcast_to(cells, shape).ravel()
        table[name] = flat.astype(np.float64) if flat.dtype.kind == "f" else flat
    return table


def records(items: Iterable[object], *columns: str) -> pd.DataFrame:
    """Return a row for each item, with some of its attributes.

    Args:
        columns: Attributes, in the order of the columns. "column=attribute" gives one another
            name, and "drift.cosine" is an attribute of an attribute.

    >>> records([1 + 2j], "real", "y=imag").to_dict("records")
    [{'real': 1.0, 'y': 2.0}]
    """
    pairs = [column.rpartition("=") for column in columns]
    named = {name or attribute: attrgetter(attribute) for name, _, attribute in pairs}
    rows = [{name: get(item) for name, get in named.items()} for item in items]
    return pd.DataFrame(rows, columns=list(named))


def tabulate(columns: str, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Return a table of rows; `columns` are their names, separated by spaces.

    >>> tabulate("x y", [(1, 2)]).to_dict("records")
    [{'x': 1, 'y': 2}]
    """
    return pd.DataFrame(list(rows), columns=columns.split())


def without_empty(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a table without a column that has no value at all."""
    return table.drop(columns=column) if table[column].isna().all() else table


def wrong_answers(errors: Iterable[WrongAnswer], severity: str) -> pd.DataFrame:
    """Return a row for each wrong answer; second texts only if there are any.

    Args:
        errors: The worst first.
        severity: Name of the column of how bad each is.
    """
    columns = ("row", "true=gold", "predicted", f"{severity}=severity", "text")
    return without_empty(records(errors, *columns, "second text=text_pair"), "second text")
