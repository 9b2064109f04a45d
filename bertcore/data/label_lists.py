"""Lists within a cell: of JSON, or as Python and numpy write them."""

from __future__ import annotations

import json
import re
from typing import Any

_LONGEST = 100_000
"""Characters of a cell that is parsed."""
_TOKEN = re.compile(
    r"""'((?:[^'\\]|\\.)*+)(?:'|\\?\Z)|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|"""
    r"""\b(None|True|False|nan)\b|(,\s*+(?=[)\]]))|([()])""",
    re.DOTALL,
)
"""Of Python; a text that is not closed takes all that is left, which is searched once."""
_WORDS = {"None": "null", "True": "true", "False": "false", "nan": "NaN"}
_GAP = re.compile(r"""(?<=["\d.])\s+(?=["\d-])""")


def parsed_list(text: str) -> Any:
    """Return the list or object that a cell writes out; None if it is other text.

    >>> parsed_list('["a", "b"]'), parsed_list("['a', 'b']"), parsed_list("['a' 'b']")
    (['a', 'b'], ['a', 'b'], ['a', 'b'])
    >>> parsed_list("[(0, 4, 'PER')]"), parsed_list("[0 1 1]"), parsed_list("[0. 1.]")
    ([[0, 4, 'PER']], [0, 1, 1], [0.0, 1.0])
    >>> parsed_list("[CLS]"), parsed_list("a, b")
    (None, None)
    """
    text = text.strip()
    if len(text) > _LONGEST or text[:1] + text[-1:] not in ("[]", "{}", "()"):
        return None
    value = _json(text)
    if value is None:
        python = _TOKEN.sub(_as_json, text)
        value = _json(python)
        if value is None:  # numpy parts items by spaces
            value = _json(re.sub(r"(\d)\.(?!\d)", r"\1.0", _GAP.sub(", ", python)))
    return value if isinstance(value, list | dict) else None


def listed(cell: Any) -> Any:
    """Return a cell of JSON as it is, and of a text the list that it writes out or None."""
    return parsed_list(cell) if isinstance(cell, str) else cell


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_json(found: re.Match[str]) -> str:
    if found[1] is not None:
        return json.dumps(found[1].replace("\\'", "'"))
    if found[2]:
        return _WORDS[found[2]]
    return "" if found[3] else {"(": "[", ")": "]"}.get(found[0], found[0])
