"""Values of our own classes as JSON and back: what another process hands over, or a file keeps.

Unlike a pickle, it names no code: only dataclasses and named tuples of bertcore are made of it.
"""

import dataclasses
import importlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Arrays = list[NDArray[Any]]


def dumps(value: Any, arrays: Arrays | None = None) -> str:
    """Return a value as one line of JSON.

    It is made of Python's plain types and collections, and of dataclasses and named tuples of
    bertcore, at any depth. NumPy scalars, arrays and tensors in it are appended to `arrays`, of
    which the text holds the places; None: there may be none. TypeError if there is something else
    in it.
    """
    return json.dumps(_plain(value, arrays))


def loads(text: str | bytes | bytearray, arrays: Arrays | None = None) -> Any:
    """Return the value that a text of `dumps` stands for; tensors share the memory of `arrays`.

    ValueError if it is no such text.
    """
    try:
        return _made(json.loads(text), arrays or [])
    except (TypeError, AttributeError, ImportError, IndexError, RecursionError) as error:
        raise ValueError(f"this is no value of bertcore ({error}).") from error


def _plain(value: Any, arrays: Arrays | None) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if arrays is not None and hasattr(value, "dtype"):
        is_tensor = hasattr(value, "detach")
        arrays.append(value.detach().cpu().numpy() if is_tensor else np.asarray(value))
        name = "tensor" if is_tensor else "array" if kind is np.ndarray else "scalar"
        return {name: [len(arrays) - 1]}
    if kind is list:
        name, items = "list", value
    elif kind in (tuple, frozenset):
        name, items = kind.__name__, list(value)
    elif kind in (dict, Counter):
        name, items = kind.__name__, list(value.items())
    elif isinstance(value, Path):
        name, items = "Path", [str(value)]
    else:
        name = f"{kind.__module__}:{kind.__qualname__}"
        items = [getattr(value, field) for field in _fields(kind)]
    return {name: _items(items, arrays)}


def _items(values: Sequence[Any], arrays: Arrays | None) -> list[Any]:
    """Return items as they are, or of a long sequence one text for each _AT_ONCE of them."""
    if len(values) <= _AT_ONCE:
        return [_plain(value, arrays) for value in values]
    parts = [values[i : i + _AT_ONCE] for i in range(0, len(values), _AT_ONCE)]
    return [{"json": json.dumps([_plain(value, arrays) for value in part])} for part in parts]


def _made(data: Any, arrays: Arrays) -> Any:
    if isinstance(data, _PLAIN):
        return data
    ((name, items),) = data.items()
    values: list[Any] = []
    for item in items:
        if isinstance(item, Mapping) and "json" in item:
            values += [_made(part, arrays) for part in json.loads(item["json"])]
        else:
            values.append(_made(item, arrays))
    if name == "list":
        return values
    if name in ("array", "scalar", "tensor"):
        return _array(name, arrays[values[0]])
    if name in _COLLECTIONS:
        return _COLLECTIONS[name](values)
    kind = _class(name)
    return kind(**dict(zip(_fields(kind), values, strict=True)))


def _array(name: str, array: NDArray[Any]) -> Any:
    """Return an array as what it was: itself, a NumPy scalar or a tensor."""
    if name == "tensor":
        from torch import from_numpy  # what has tensors has imported it

        return from_numpy(array)
    return array if name == "array" else array[()]


@cache
def _class(name: str) -> Any:
    """Return a class of bertcore that only holds values, by its module and name."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] != "bertcore" or not path.isidentifier():
        raise TypeError(f"{name[:80]!r} is no class of bertcore")
    kind = getattr(importlib.import_module(module), path)
    _fields(kind)
    return kind


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the names of what a dataclass or named tuple holds."""
    if kind.__module__.partition(".")[0] == "bertcore" and isinstance(kind, type):
        if dataclasses.is_dataclass(kind):
            return tuple(field.name for field in dataclasses.fields(kind) if field.init)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return tuple(kind._fields)
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} cannot be handed over")
