"""How a visitor looks at a view (order, limits, filters), as one short text for the address."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

Value = str | bool | float | None
Look = dict[str, Value]
Options = Collection[str] | re.Pattern[str]
"""What a text may be: one of several, or whatever has this form."""


def write_look(look: Mapping[str, object], defaults: Mapping[str, Value]) -> str:
    """Return what differs from the defaults; an unknown name is left out.

    >>> write_look({"order": "all", "lowest": True, "limit": None}, {"order": "", "lowest": False})
    'order:all,lowest:1'
    """
    parts = []
    for name, default in defaults.items():
        chosen = look.get(name, default)
        if chosen == default:
            continue
        if isinstance(chosen, bool):
            chosen = int(chosen)
        elif isinstance(chosen, int | float):
            chosen = f"{chosen:.5g}"
        parts.append(f"{name}:{chosen}")
    return ",".join(parts)


def read_look(text: str, defaults: Mapping[str, Value], options: Mapping[str, Options]) -> Look:
    """Return the look that a text describes; what is wrong in it is the default.

    Args:
        text: From `write_look`, or anything at all: it comes from an address.
        defaults: A value for each name; its type is how the text is read, None a number.
        options: What a text may be, for each name whose default is a text.

    >>> read_look("lowest:1,limit:0.3,order:x", {"order": "", "lowest": False, "limit": None}, {})
    {'order': '', 'lowest': True, 'limit': 0.3}
    """
    look = dict(defaults)
    for part in text.split(","):
        name, _, written = part.partition(":")
        if name not in defaults:
            continue
        default = defaults[name]
        if isinstance(default, bool):
            look[name] = {"1": True, "0": False}.get(written, default)
        elif isinstance(default, str):
            look[name] = written if is_one_of(written, options.get(name, ())) else default
        else:
            look[name] = _number(written, default)
    return look


def is_one_of(written: str, options: Options) -> bool:
    """Return whether a text is allowed."""
    if isinstance(options, re.Pattern):
        return options.fullmatch(written) is not None
    return written in options


def _number(written: str, default: float | None) -> float | None:
    try:
        number = float(written)
    except ValueError:
        return default
    return number if math.isfinite(number) else default
