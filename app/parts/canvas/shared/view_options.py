"""The state of a view: its options (order, limits, filters) as one short text for the address."""

import math
import re
from collections.abc import Collection, Mapping

Value = str | bool | float | None
ViewOptions = dict[str, Value]  # the value of each option by its name
Choices = Collection[str] | re.Pattern[str]
"""What a text option may be: one of several texts, or any text that matches the pattern."""


def write_options(options: Mapping[str, object], defaults: Mapping[str, Value]) -> str:
    """Return the options that differ from the defaults; unknown names are left out.

    >>> defaults = {"order": "", "lowest": False}
    >>> write_options({"order": "all", "lowest": True, "limit": None}, defaults)
    'order:all,lowest:1'
    """
    parts = []
    for name, default in defaults.items():
        value = options.get(name, default)
        if value == default:
            continue
        if isinstance(value, bool):
            value = int(value)
        elif isinstance(value, int | float):
            value = f"{value:.5g}"
        parts.append(f"{name}:{value}")
    return ",".join(parts)


def read_options(
    text: str, defaults: Mapping[str, Value], choices: Mapping[str, Choices]
) -> ViewOptions:
    """Return the options that a text sets; a value that is not valid is replaced by the default.

    Args:
        text: From `write_options`, or any text at all: it comes from an address.
        defaults: A value for each name; its type says how the text is read, None as a number.
        choices: The valid texts of each option whose default is a text.

    >>> defaults = {"order": "", "lowest": False, "limit": None}
    >>> read_options("lowest:1,limit:0.3,order:x", defaults, {})
    {'order': '', 'lowest': True, 'limit': 0.3}
    """
    options = dict(defaults)
    for part in text.split(","):
        name, _, written = part.partition(":")
        if name not in defaults:
            continue
        default = defaults[name]
        if isinstance(default, bool):
            options[name] = {"1": True, "0": False}.get(written, default)
        elif isinstance(default, str):
            options[name] = written if is_one_of(written, choices.get(name, ())) else default
        else:
            options[name] = _number(written, default)
    return options


def is_one_of(written: str, choices: Choices) -> bool:
    """Return whether a text is one of the choices."""
    if isinstance(choices, re.Pattern):
        return choices.fullmatch(written) is not None
    return written in choices


def _number(written: str, default: float | None) -> float | None:
    try:
        number = float(written)
    except ValueError:
        return default
    return number if math.isfinite(number) else default
