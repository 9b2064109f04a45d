"""The numbers of a picture as a file: CSV of a table, NPZ of arrays."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
import pandas as pd

from app.html_file.document import File

Data = pd.DataFrame | Mapping[str, np.ndarray]


def data_file(name: str, data: Data) -> File:
    """Return a picture's numbers as a file: CSV of a table, NPZ of arrays."""
    if isinstance(data, pd.DataFrame):
        return File(f"bertscope-{name}.csv", "text/csv", to_csv(data))
    return File(f"bertscope-{name}.npz", "application/octet-stream", to_npz(data))


def to_csv(data: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8, with the mark that lets spreadsheets see it."""
    return data.to_csv(index=False).encode("utf-8-sig")


def to_npz(data: Mapping[str, np.ndarray]) -> bytes:
    """Return named arrays as a compressed NPZ file."""
    out = io.BytesIO()
    np.savez_compressed(out, **{name: np.asarray(array) for name, array in data.items()})
    return out.getvalue()
