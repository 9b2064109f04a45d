"""What a page found as JSON: arrays as lists, sets in order, what is not a number as null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np


def to_json(record: Any) -> bytes:
    """Return a record as JSON in UTF-8.

    >>> to_json({"p": np.array([0.5, np.nan]), "off": frozenset({(1, 0), (0, 3)})})
    b'{"p": [0.5, null], "off": [[0, 3], [1, 0]]}'
    """
    return json.dumps(plain_data(record), ensure_ascii=False, allow_nan=False).encode()


def plain_data(record: Any) -> Any:
    """Return a record made of what JSON knows, at any depth.

    Raises:
        TypeError: If a part of it is none of what pages hold.
    """
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: plain_data(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(name): plain_data(part) for name, part in record.items()}
    if isinstance(record, np.ndarray):
        return plain_data(record.tolist())
    if isinstance(record, set | frozenset):
        return plain_data(sorted(record))
    if isinstance(record, list | tuple):
        return [plain_data(part) for part in record]
    if isinstance(record, np.floating | float):
        return float(record) if math.isfinite(record) else None
    if isinstance(record, np.integer):
        return int(record)
    if record is None or isinstance(record, str | int | bool):
        return record
    if isinstance(record, Path):
        return str(record)
    raise TypeError(f"a {type(record).__name__} cannot be written as JSON.")
