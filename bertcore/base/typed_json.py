"""Values of our own classes as JSON and back, for what another process hands over.

Unlike a pickle, it names no code: only dataclasses and named tuples of bertcore are made of it.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_PLAIN = (type(None), bool, int, float, str)
_AT_ONCE = 256
"""Items of a longer sequence that are one text of JSON: `json` lets no other thread run Python
while it parses a text."""
_COLLECTIONS: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "dict": dict,
    "Counter": lambda pairs: Counter(dict(pairs)),
    "frozenset": frozenset,
    "Path": lambda parts: Path(*parts),
}


def dumps(value: Any) -> str:
    """Return a value as one line of JSON.

    Args:
        value: Of Python's plain types and collections, and of dataclasses and named tuples of
            bertcore, at any depth.

    Raises:
        TypeError: If there is something else in it.
    """
    return json.dumps(_plain(value))


def loads(text: str | bytes | bytearray) -> Any:
    """Return the value that a text of `dumps` stands for.

    Raises:
        ValueError: If it is no such text.
    """
    try:
        return _made(json.loads(text))
    except (TypeError, AttributeError, ImportError, RecursionError) as error:
        raise ValueError(f"this is no value of bertcore ({error}).") from error


def _plain(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if kind is list:
        return {"list": _items(value)}
    if kind in (tuple, frozenset):
        return {kind.__name__: _items(list(value))}
    if kind in (dict, Counter):
        return {kind.__name__: _items(list(value.items()))}
    if isinstance(value, Path):
        return {"Path": _items([str(value)])}
    return {
        f"{kind.__module__}:{kind.__qualname__}": _items([getattr(value, n) for n in _fields(kind)])
    }


def _items(values: Sequence[Any]) -> list[Any]:
    """Return items as they are, or of a long sequence one text for each _AT_ONCE of them."""
    if len(values) <= _AT_ONCE:
        return [_plain(value) for value in values]
    parts = range(0, len(values), _AT_ONCE)
    return [{"json": json.dumps([_plain(v) for v in values[i : i + _AT_ONCE]])} for i in parts]


def _made(data: Any) -> Any:
    if isinstance(data, _PLAIN):
        return data
    ((name, items),) = data.items()
    values: list[Any] = []
    for item in items:
        if isinstance(item, Mapping) and "json" in item:
            values += map(_made, json.loads(item["json"]))
        else:
            values.append(_made(item))
    if name == "list":
        return values
    if name in _COLLECTIONS:
        return _COLLECTIONS[name](values)
    kind = _class(name)
    return kind(**dict(zip(_fields(kind), values, strict=True)))


@cache
def _class(name: str) -> Any:
    """Return a class by its module and name.

    Raises:
        TypeError: If it is none of bertcore that only holds values.
    """
    module, _, path = name.partition(":")
    if module.partition(".")[0] != "bertcore" or not path.isidentifier():
        raise TypeError(f"{name[:80]!r} is no class of bertcore")
    kind = getattr(importlib.import_module(module), path)
    _fields(kind)
    return kind


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the names of what a class holds.

    Raises:
        TypeError: If it is neither a dataclass nor a named tuple.
    """
    if kind.__module__.partition(".")[0] == "bertcore" and isinstance(kind, type):
        if dataclasses.is_dataclass(kind):
            return tuple(field.name for field in dataclasses.fields(kind) if field.init)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return tuple(kind._fields)
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} cannot be handed over")
