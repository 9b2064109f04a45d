"""The range and the formats of the numbers that users give."""

import math
from collections.abc import Callable, Iterable
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


def check_fields(config: Any, names: str, is_right: Callable[[Any], bool], expected: str) -> None:
    """Check fields of a dataclass, named with spaces between, those that are None apart.

    ValueError, with the `expected` range in words, if one is not right; NaN is in no range.
    """
    for name in names.split():
        value = getattr(config, name)
        if value is not None and not is_right(value):
            raise ValueError(f"{name} is {value}; expected {expected}.")


def check_at_least(config: Any, names: str, least: int) -> None:
    """Check fields that are counts, as `check_fields`."""
    check_fields(config, names, lambda value: value >= least, f"at least {least}")


def check_fractions(config: Any, names: str) -> None:
    """Check fields that are probabilities below 1, as `check_fields`."""
    check_fields(config, names, lambda value: 0 <= value < 1, "from 0 up to below 1")


def check_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Check a value by name; ValueError if it is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name} is {value[:40]!r}; expected one of {', '.join(choices)}.")


def check_seed(config: Any) -> None:
    """Check the field `seed`; ValueError if it is none of torch's."""
    check_fields(config, "seed", lambda seed: 0 <= seed < 2**63, "0 up to below 2 to the 63rd")
