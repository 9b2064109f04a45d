"""Tables in JSON: a list of objects, one value of many usual forms, or an object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from bertcore.data.columns import TEXTS, find
from bertcore.data.dialects import Record
from bertcore.data.files import LONGEST_LINE, whole_lines

FORMS = (
    'a list of objects, [{"text": "...", "label": "..."}, ...], an object of columns, or an object '
    "a line"
)
_MOST_LEVELS = 100
"""Of lists and objects within a row; Python's own limit is some hundreds."""
_INNER = ("data", "rows", "examples", "instances", "items", "records")
_SPLIT = re.compile(r"(\w+_)?(train(ing)?|val(id(ation)?)?|dev|test)(_\w+)?", re.IGNORECASE)
_NOTHING = object()
_DECODER = json.JSONDecoder(strict=False)  # some tools write line breaks and tabs as they are


def json_records(text: TextIO, path: Path, ending: str) -> tuple[bool, Iterator[Record]]:
    """Return whether a file has an object (or a list) a line, and its rows: dicts or lists.

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
        is_row = isinstance(value, dict) and not any(_are_objects(value.get(n)) for n in _INNER)
        has_lines |= is_row or (is_broken and isinstance(_parsed(more), dict))
    if has_lines:
        every = chain((first, more), whole_lines(text, path, start=3))
        return True, map(_record, map(_parsed, filter(str.strip, every)))
    return False, map(_record, _rows(_whole("".join([first, more, text.read()]), path), path))


def _parsed(line: str) -> Any:
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        return _NOTHING


def _record(value: Any) -> Record:
    """Return a row; a wrong one if it is so deep that it could not be written again."""
    if value is _NOTHING:
        return Record((), wrong="is not valid JSON")
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(_MOST_LEVELS):
        nested = [
            container.values() if isinstance(container, dict) else container for container in level
        ]
        level = [part for parts in nested for part in parts if isinstance(part, list | dict)]
        if not level:
            return Record(value)
    return Record((), wrong=f"has more than {_MOST_LEVELS} levels of lists and objects")


def _whole(text: str, path: Path) -> Any:
    """Return the value of a text of JSON, or the list of those that follow one another."""
    between, values, place = re.compile("[ \t\r\n,;\ufeff\x1e]*"), [], 0
    try:
        while (place := between.match(text, place).end()) < len(text):  # type: ignore[union-attr]
            value, place = _DECODER.raw_decode(text, place)
            values.append(value)
    except (ValueError, RecursionError) as error:
        why = str(error)[:100]
        raise ValueError(f"{str(path)!r} is not valid JSON ({why}). Write {FORMS}.") from error
    return values[0] if len(values) == 1 else values


def _rows(value: Any, path: Path) -> Sequence[Any]:
    """Return the rows of a value, in one of the forms of pandas, `datasets` and their like.

    ValueError if it is in none of them.
    """
    if isinstance(value, list):
        if value and all(
            isinstance(row, dict) and isinstance(row.get("row"), dict) for row in value
        ):
            return [row["row"] for row in value]  # of the hub's viewer
        return [row if isinstance(row, dict | list) else [row] for row in value]
    parts = list(value.values()) if isinstance(value, dict) else []
    if not parts:
        raise ValueError(f"{str(path)!r} has no table in JSON. Write {FORMS}.")
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list):  # pandas: split
        names = [str(name) for name in columns]
        return [dict(zip(names, row, strict=False)) for row in data if isinstance(row, list)]
    inner = [name for name in _INNER if _are_objects(value.get(name))]
    is_split = all(len(name) < 100 and _SPLIT.fullmatch(name) for name in value)
    named = [name for name, part in value.items() if is_split or _are_objects(part)]
    text = find(list(value), TEXTS)
    if not inner and text is not None and isinstance(parts[text], str):
        return [value]  # a text with what is marked in it
    if len(parts) == 1 and isinstance(parts[0], dict) and any(map(_are_objects, parts[0].values())):
        return _rows(parts[0], path)  # Rasa's rasa_nlu_data
    if inner or len(named) == 1:
        return _rows(value[(inner or named)[0]], path)
    if named:
        raise ValueError(
            f"{str(path)!r} has several tables, {', '.join(repr(n[:40]) for n in named[:9])}. "
            "Give a file of one of them."
        )
    if all(isinstance(part, dict) for part in parts):
        return _of_objects(value)
    if all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if any(isinstance(part, dict) for part in parts):
        raise ValueError(f"{str(path)!r} has no table in JSON. Write {FORMS}.")
    return [value]


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


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
