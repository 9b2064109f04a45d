"""The numbers of a picture as a file: CSV of a table, NPZ of arrays."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..html_file.chart import Data
from ..html_file.document import File


def data_file(name: str, data: Data) -> File:
    """Return a picture's numbers as a file: CSV of a table, NPZ of arrays."""
    if isinstance(data, pd.DataFrame):
        return File(f"bertscope-{name}.csv", "text/csv", to_csv(data))
    return File(f"bertscope-{name}.npz", "application/octet-stream", to_npz(data))


def to_csv(data: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8, with the mark that lets spreadsheets see it."""
    text: str = data.to_csv(index=False)
    return text.encode("utf-8-sig")


def to_npz(data: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as a compressed NPZ file."""
    out = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(array) for name, array in data.items()}
    np.savez_compressed(out, **arrays)
    return out.getvalue()
