"""Arrays as tables: a row for each cell."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike


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
    first, second = pd.DataFrame(rows), pd.DataFrame(columns)
    table = first.merge(second, how="cross")
    for name, cells in values.items():
        flat = np.broadcast_to(cells, (len(first), len(second))).ravel()
        table[name] = flat.astype(np.float64) if flat.dtype.kind == "f" else flat
    return table
