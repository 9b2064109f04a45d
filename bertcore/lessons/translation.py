"""A lesson in another language: a file of texts, put in place of those of the original."""

import copy
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ENGLISH = "en"
"""Folder of the originals, beside those of the other languages."""
PLACE = re.compile(r"\{(\w*)(%?)\}")
"""A fact in a text, in percent or not."""
_TEXTS = frozenset(
    "title summary goals misconceptions notes text question right wrong why because".split()
)
_TABLES = frozenset({"steps", "again", "choices"})
_MOST_NAMED = 5

_Place = tuple[str | int, ...]
"""Where a text stands: ("steps", 2, "title") is the title of the third step."""


def original_of(path: Path) -> Path | None:
    """Return the lesson that a file may translate: that of the same name in the folder ../en."""
    path = path.resolve()
    original = path.parents[1] / ENGLISH / path.name
    return original if original.is_file() and original != path else None


def translated(original: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a lesson whose texts are those of a translation.

    ValueError names what the translation lacks, what it has too much, and facts that differ.
    """
    wanted, given = _originals(original), dict(_entries(texts))
    problems = [f"{_named(place)} is missing." for place in wanted if place not in given]
    problems += [
        f"{_named(place)} is not in the original." for place in given if place not in wanted
    ]
    merged: dict[str, Any] = copy.deepcopy(dict(original))
    for place in wanted.keys() & given.keys():
        text = given[place]
        if not isinstance(text, str) or not text.strip():
            problems.append(f"{_named(place)} is {str(text)[:40]!r}; expected a text.")
            continue
        if (facts := _facts(text)) != (expected := _facts(wanted[place])):
            both = (" ".join(sorted(some)) or "none" for some in (facts, expected))
            problems.append(
                "{} has the facts {}; the original has {}.".format(_named(place), *both)
            )
        table: Any = merged
        for part in place[:-1]:
            table = table[part]
        table[place[-1]] = text
    if problems:
        more = len(problems) - _MOST_NAMED
        raise ValueError(
            f"as a translation it differs from ../{ENGLISH}: {' '.join(problems[:_MOST_NAMED])}"
            f"{f' And {more} more.' if more > 0 else ''} A translation has the original's texts, "
            "in their order, and nothing else."
        )
    return merged


def _originals(data: Mapping[str, Any]) -> dict[_Place, str]:
    """Return the texts that a translation has."""
    return {
        place: text
        for place, text in _entries(data)
        if not _TEXTS.isdisjoint(map(str, place)) and isinstance(text, str)
    }


def _entries(data: Mapping[str, Any], place: _Place = ()) -> Iterator[tuple[_Place, Any]]:
    """Yield what stands in a file, by its place; lists and explanations one by one."""
    for name, value in data.items():
        at = (*place, name)
        if isinstance(value, list):
            for number, one in enumerate(value):
                if name in _TABLES and isinstance(one, dict):
                    yield from _entries(one, (*at, number))
                else:
                    yield (*at, number), one
        elif name == "because" and isinstance(value, dict):
            yield from (((*at, fact), why) for fact, why in value.items())
        else:
            yield at, value


def _named(place: _Place) -> str:
    parts = (f"{part + 1}," if isinstance(part, int) else part for part in place)
    return " ".join(parts).rstrip(",")


def _facts(text: str) -> set[str]:
    return {found[0] for found in PLACE.finditer(text)}
