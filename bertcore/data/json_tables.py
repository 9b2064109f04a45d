"""Tables in JSON: a list of objects, one value of many usual forms, or an object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from bertcore.data.files import LONGEST_LINE, whole_lines
from bertcore.data.usual_columns import TEXTS, find

FORMS = (
    'a list of objects, [{"text": "...", "label": "..."}, ...], an object of columns, or an object '
    "a line"
)
_MOST_LEVELS = 100
"""Of lists and objects within a row; Python's own limit is some hundreds."""
_INNER = ("data", "rows", "examples", "instances", "items", "records")
_SPLIT = re.compile(r"(\w+_)?(train(ing)?|val(id(ation)?)?|dev|test)(_\w+)?", re.IGNORECASE)


class Value(NamedTuple):
    """A row as it stands in the file."""

    value: Any
    """A dict, or a list; anything else is no row."""
    wrong: str = ""
    """What is wrong with it, as a phrase; "" for nothing."""
    size: int = 0
    """Characters of its line, if it has one."""


def json_values(text: TextIO, path: Path, *, ending: str) -> tuple[bool, Iterator[Value]]:
    """Return whether a file has an object (or a list) a line, and its rows.

    Args:
        text: The open file.
        path: For messages.
        ending: Of its name; ".jsonl" and ".ndjson" may begin with a line that cannot be read.

    ValueError if it is empty, not valid JSON, or no table.
    """
    lines = filter(str.strip, iter(partial(text.readline, LONGEST_LINE), ""))
    first, more = next(lines, ""), next(lines, "")
    if not first:
        raise ValueError(f"{str(path)!r} is empty. Give a table with a row for each example.")
    value = _parsed(first)
    has_lines = isinstance(value, dict | list) and bool(more)
    if ending in (".jsonl", ".ndjson"):
        is_broken = value is _NOTHING and first.strip() not in ("[", "{")
        is_row = isinstance(value, dict) and not any(_is_rows(value.get(name)) for name in _INNER)
        has_lines |= is_row or (is_broken and isinstance(_parsed(more), dict))
    if has_lines:
        return True, map(
            _of_line, filter(str.strip, chain((first, more), whole_lines(text, path, start=3)))
        )
    return False, map(_checked, _rows(_whole("".join([first, more, text.read()]), path), path))


def _of_line(line: str) -> Value:
    value = _parsed(line)
    if value is _NOTHING:
        return Value(None, "is not valid JSON", len(line))
    may_be_deep = line.count("[") + line.count("{") > _MOST_LEVELS
    return (_checked(value) if may_be_deep else Value(value))._replace(size=len(line))


_NOTHING = object()
_DECODER = json.JSONDecoder(strict=False)  # some tools write line breaks and tabs as they are


def _parsed(line: str) -> Any:
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return _NOTHING


def _checked(value: Any) -> Value:
    """Return a row; a wrong one if it is so deep that it could not be written again."""
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(_MOST_LEVELS):
        nested = [one.values() if isinstance(one, dict) else one for one in level]
        level = [part for parts in nested for part in parts if isinstance(part, list | dict)]
        if not level:
            return Value(value)
    return Value(None, f"has more than {_MOST_LEVELS} levels of lists and objects")


def _whole(text: str, path: Path) -> Any:
    """Return the value of a text of JSON, or the list of those that follow one another."""
    values, place = [], 0
    try:
        while (place := _next(text, place)) < len(text):
            value, place = _DECODER.raw_decode(text, place)
            values.append(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} is not valid JSON ({str(error)[:100]}). Write {FORMS}."
        ) from error
    return values[0] if len(values) == 1 else values


def _next(text: str, place: int) -> int:
    """Return where the next value begins."""
    while place < len(text) and text[place] in " \t\r\n,;\ufeff\x1e":
        place += 1
    return place


def _rows(value: Any, path: Path) -> Sequence[Any]:
    """Return the rows of a value, in one of the forms of pandas, `datasets` and their like.

    ValueError if it is in none of them.
    """
    if isinstance(value, list):
        if value and all(isinstance(row, dict) and _is_row(row.get("row")) for row in value):
            return [row["row"] for row in value]  # of the hub's viewer
        return [row if isinstance(row, dict | list) else [row] for row in value]
    if isinstance(value, dict):
        columns, data = value.get("columns"), value.get("data")
        if isinstance(columns, list) and isinstance(data, list):  # pandas: split
            names = [str(name) for name in columns]
            return [
                dict(zip(names, row, strict=False)) if isinstance(row, list) else row
                for row in data
            ]
        inner = [name for name in _INNER if _is_rows(value.get(name))]
        is_split = bool(value) and all(len(n) < 100 and _SPLIT.fullmatch(n) for n in value)
        named = [name for name, part in value.items() if is_split or _is_rows(part)]
        text = find(list(value), TEXTS)
        if not inner and text is not None and isinstance([*value.values()][text], str):
            return [value]  # a text with what is marked in it
        wrapped = next(iter(value.values()), None) if len(value) == 1 else None
        if isinstance(wrapped, dict) and any(map(_is_rows, wrapped.values())):
            return _rows(wrapped, path)  # Rasa's rasa_nlu_data
        if inner or len(named) == 1:
            return _rows(value[(inner or named)[0]], path)
        if named:
            raise ValueError(
                f"{str(path)!r} has several tables, {', '.join(repr(n[:40]) for n in named[:9])}. "
                "Give a file of one of them."
            )
        parts = list(value.values())
        if parts and all(isinstance(part, dict) for part in parts):
            return _of_objects(value)
        lengths = {len(part) for part in parts if isinstance(part, list)}
        if len(lengths) == 1 and all(isinstance(part, list) for part in parts):
            return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
        if value and not any(isinstance(part, dict) for part in parts):
            return [value]
    raise ValueError(f"{str(path)!r} has no table in JSON. Write {FORMS}.")


def _is_row(value: Any) -> bool:
    return isinstance(value, dict)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_row, value))


def _of_objects(value: Mapping[str, Mapping[str, Any]]) -> Sequence[Any]:
    """Return the rows of an object of objects: of rows (pandas: index), or of columns."""
    inner = list(next(iter(value.values())))
    is_rows = all(key.lstrip("-").isdigit() for key in value) or (
        not all(key.lstrip("-").isdigit() for key in inner) and len(inner) < len(value)
    )
    if is_rows:
        return list(value.values())
    rows: dict[str, dict[str, Any]] = {}  # of what is there: of 20,000 columns each may have one
    for name, part in value.items():
        for place, cell in part.items():
            rows.setdefault(place, {})[name] = cell
    return list(rows.values())
