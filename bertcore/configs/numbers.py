"""The range and the formats of the numbers that users give."""

import math
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

MAX_FLOAT = 1e6
"""Of rates, weights, ratios and minutes."""
MAX_INT = 2**63 - 1
"""Of counts, places and seeds, which become int64."""
INFINITE = ("max_grad_norm",)
"""Settings that may be infinite."""
DTYPES = ("auto", "bfloat16", "float32")
"""Number formats of training and encoding; auto: bfloat16 where the processor multiplies it."""


def check_numbers(values: Iterable[tuple[str, Any]]) -> None:
    """Check numbers by name, in tuples and lists too; values of other types pass.

    ValueError if one is NaN, infinite or too large.
    """
    for name, value in values:
        if isinstance(value, tuple | list):
            check_numbers((name, part) for part in value)
        elif isinstance(value, float):
            if not abs(value) <= MAX_FLOAT and not (name in INFINITE and value == math.inf):
                raise ValueError(
                    f"{name} is {value}; expected a number of at most {MAX_FLOAT:,.0f}."
                )
        elif isinstance(value, int) and abs(value) > MAX_INT:
            raise ValueError(f"{name} is too large; expected a number below 2 to the 63rd.")


def check_numbers_of(config: Any) -> None:
    """Check the fields of a dataclass; ValueError as `check_numbers`."""
    check_numbers((field.name, getattr(config, field.name)) for field in fields(config))


def check_dtype(dtype: str) -> None:
    """Check the name of a number format; ValueError if it is not one of DTYPES."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; expected one of {', '.join(DTYPES)}.")
