"""The numbers of a picture as files: CSV of a table, NPZ of arrays."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...on_demand import pd
from .chart import Data
from .document import File

_RULE = Path(__file__).parents[1] / "canvas" / "saving" / "formula.json"
_BEFORE_SIGN = re.compile(json.loads(_RULE.read_text(encoding="utf-8"))["before_sign"])
"""Before a sign by which a spreadsheet, in whatever country, would take a part of a text for a
formula."""


def data_file(name: str, data: Data) -> File:
    """Return a picture's numbers as a file: CSV of a table, NPZ of arrays."""
    if isinstance(data, pd.DataFrame):
        return File(f"bertscope-{name}.csv", "text/csv", to_csv(data))
    return File(f"bertscope-{name}.npz", "application/octet-stream", to_npz(data))


def to_csv(data: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8, with the byte order mark that spreadsheets need.

    All texts are quoted, and no part of one is a formula, also where a spreadsheet splits at
    semicolons: an apostrophe makes text of it, as in the files that the browser makes
    (app/parts/canvas/saving/csv.ts).
    """
    columns = [column.to_numpy() for _, column in data.items()]
    rows = [[str(name) for name in data.columns], *zip(*columns, strict=True)]
    lines = "".join(",".join(map(_cell, row)) + "\r\n" for row in rows)
    return lines.encode("utf-8-sig")


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, int | float | np.number | np.bool_):
        return str(value) if value == value else ""  # not NaN
    text: str = _BEFORE_SIGN.sub(lambda before: f"{before[0]}'", str(value))
    return '"' + text.replace('"', '""') + '"'


def to_npz(data: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as a compressed NPZ file."""
    out = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(array) for name, array in data.items()}
    np.savez_compressed(out, **arrays)
    return out.getvalue()
