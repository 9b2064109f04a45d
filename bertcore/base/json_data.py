"""Results as JSON: arrays as lists, sets in order, NaN and infinity as null."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def to_json(record: Any) -> bytes:
    """Return a record as JSON in UTF-8.

    >>> import numpy as np
    >>> to_json({"p": np.array([0.5, np.nan]), "off": frozenset({(1, 0), (0, 3)})})
    b'{"p": [0.5, null], "off": [[0, 3], [1, 0]]}'
    """
    return json.dumps(plain_data(record), ensure_ascii=False, allow_nan=False).encode()


def with_nan(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of numbers read from JSON, with NaN for null.

    >>> with_nan({"step": 2, "loss": None})
    {'step': 2, 'loss': nan}
    """
    return {name: math.nan if part is None else part for name, part in record.items()}


def plain_data(record: Any) -> Any:
    """Return a record as JSON types only, at any depth.

    TypeError if a part of it cannot be written as JSON.
    """
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: plain_data(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(name): plain_data(part) for name, part in record.items()}
    if hasattr(record, "tolist"):  # an array or a number of NumPy, or a tensor
        return plain_data(record.tolist())
    if isinstance(record, set | frozenset):
        return plain_data(sorted(record))
    if isinstance(record, list | tuple):
        return [plain_data(part) for part in record]
    if isinstance(record, float):
        return record if math.isfinite(record) else None
    if record is None or isinstance(record, str | int | bool):
        return record
    if isinstance(record, Path):
        return str(record)
    raise TypeError(f"a {type(record).__name__} cannot be written as JSON.")
