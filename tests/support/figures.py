"""Figures as the browser gets them, compared."""

import json
from typing import Any

import plotly.io


def as_json(drawn: dict[str, Any]) -> Any:
    return json.loads(plotly.io.to_json(drawn, validate=False))


def difference(ours: Any, theirs: Any, at: str = "figure") -> str:
    """Return where two values as of JSON differ first; empty if they do not."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = [*ours, *(name for name in theirs if name not in ours)]
        parts = (difference(ours.get(n), theirs.get(n), f"{at}.{n}") for n in names)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        parts = (difference(*pair, f"{at}[{i}]") for i, pair in pairs)
    else:
        return "" if ours == theirs else f"{at}: {ours!r} is not {theirs!r}"
    return next((part for part in parts if part), "")
