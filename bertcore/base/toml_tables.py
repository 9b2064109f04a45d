"""TOML as dataclasses: each value by its type hint; all faults of a file are named at once."""

import difflib
import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_MOST_NAMED = 10
"""Faults that are written out."""
_DEEP = re.compile(
    r"""(?<![\w"'\\-])(?:(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.[ \t]*){10}"""
)
"""Names of tables within tables (a.b.c), for which tomllib's memory grows with their square."""
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
NOT_IN_TOML = {"in_toml": False}
"""Metadata of a dataclass's field that no table may set."""
_KINDS = {str: str, Path: str, int: int, float: float, bool: bool}


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds in an annotation: of a number, of the characters of a text, or of a list's length."""

    low: int
    high: int

    def holds(self, value: Any) -> bool:
        """Return whether a value, or its length, is within the bounds."""
        size = value if isinstance(value, int | float) else len(value)
        return self.low <= size <= self.high

    def expected(self, hint: Any) -> str:
        """Return how a value of a type within the bounds is written."""
        if get_origin(hint) is tuple:
            return f"a list of {self.low} to {self.high}, each {expected(get_args(hint)[0])}"
        characters = " characters" if hint is str else ""
        preposition = "of" if hint is str else "from"
        return f"{_WORDS[hint]} {preposition} {self.low:,} to {self.high:,}{characters}"


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Return the tables in a file's text; ValueError, with the file's name, if it is not TOML."""
    if deep := _DEEP.search(text):
        raise ValueError(
            f"{name} has tables in tables, {short(deep[0])}; expected tables in lists, such as "
            "[[steps]]."
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(
            f"{name} is not TOML: {error}. A text stands between double quotes, a long one between "
            'three: """...""".'
        ) from None
    except ValueError:  # of Python, for an integer of thousands of digits
        raise ValueError(f"{name} has a number of thousands of digits. Shorten it.") from None
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply. Write tables in lists.") from None


def from_table(kind: type[T], table: Mapping[str, Any], **ours: Any) -> T:
    """Return a dataclass made of a table, and of `ours`, fields that are not in it.

    A class of a field may read its own value (`from_toml`, a class method, whose ValueError says
    what is expected), and a dataclass may have a method `faults` that yields what does not fit
    together. A field `is_` is `is` in TOML. ValueError names all faults with their places.
    """
    faults: list[str] = []
    made = _made(kind, table, "", faults, ours)
    if faults:
        raise ValueError(sentence_of(faults))
    return made  # type: ignore[no-any-return]


def sentence_of(faults: list[str]) -> str:
    """Return the first faults in a line, and how many more there are."""
    more = len(faults) - _MOST_NAMED
    return " ".join(faults[:_MOST_NAMED]) + (f" And {more} more." if more > 0 else "")


def read_value(value: Any, hint: Any, place: str, faults: list[str]) -> Any:
    """Return a value of TOML as a type hint has it; what is wrong is added to the faults.

    A value where a list is expected is a list of one.
    """
    bounds, plain = None, hint
    if get_origin(hint) is Annotated:
        plain, bounds = get_args(hint)
    origin, parts = get_origin(plain), get_args(plain)
    if origin in (Union, UnionType):
        kinds = [part for part in parts if part is not NoneType]
        if len(kinds) == 1:
            return read_value(value, kinds[0], place, faults)
        for kind in kinds:
            own: list[str] = []
            made = read_value(value, kind, place, own)
            if not own:
                return made
    elif origin in (list, tuple):
        values = value if isinstance(value, list) else [value]
        if bounds is None or bounds.holds(values):
            return tuple(
                read_value(each, parts[0], f"{place} {number}", faults)
                for number, each in enumerate(values, start=1)
            )
    elif origin is Mapping:
        if isinstance(value, dict):
            return {
                parts[0](key): read_value(each, parts[1], f"{place} {key[:40]}", faults)
                for key, each in value.items()
            }
    elif hasattr(plain, "from_toml"):
        try:
            return plain.from_toml(value)
        except ValueError as error:
            faults.append(f"{place} is {short(value)}; expected {error}.")
            return None
    elif is_dataclass(plain):
        if isinstance(value, dict):
            return _made(plain, value, place, faults, {})
        if type(value) is plain:
            return value
    elif plain is Any:
        return value
    else:
        made = _plain(value, str if origin is Literal else plain)
        if bounds is not None and isinstance(made, str):
            made = made.strip()
        if made is not None and (bounds is None or bounds.holds(made)):
            return made
    is_long = isinstance(value, list) and len(value) != 1
    what = f"has {len(value)} entries" if is_long else f"is {short(value)}"
    faults.append(f"{place} {what}; expected {expected(hint)}.")
    return None


def _plain(value: Any, kind: Any) -> Any:
    """Return a text or a number; None if it is of another type, or NaN."""
    if type(value) is not _KINDS.get(kind) and not (kind is float and type(value) is int):
        return None
    try:
        value = kind(value)
    except OverflowError:
        return None
    return None if isinstance(value, float) and math.isnan(value) else value


def _made(
    kind: Any, table: Mapping[str, Any], place: str, faults: list[str], ours: Mapping[str, Any]
) -> Any:
    start = f"{place}, " if place else ""
    hints = get_type_hints(kind, include_extras=True)
    known: dict[str, Field[Any]] = {
        each.name.rstrip("_"): each
        for each in fields(kind)
        if each.metadata != NOT_IN_TOML and each.name not in ours
    }
    others = (name for name in table if name not in known)
    faults += (
        f"{start}{unknown_name(name, known)}" for name in itertools.islice(others, _MOST_NAMED)
    )
    before, values = len(faults), {}  # what is unknown hides no other fault
    for name, each in known.items():
        if name in table:
            values[each.name] = read_value(table[name], hints[each.name], f"{start}{name}", faults)
        elif each.default is MISSING and each.default_factory is MISSING:
            faults.append(f"{start}{name} is missing; expected {expected(hints[each.name])}.")
    if len(faults) > before:
        return None
    made = kind(**values, **ours)
    if hasattr(made, "faults"):
        faults += (f"{start}{fault}" for fault in made.faults())
    return made


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return that a name is not one of the known ones, and which may be meant."""
    close = difflib.get_close_matches(name[:100].replace("-", "_"), known, 1, 0.5)
    hint = f"Did you mean {close[0]}?" if close else "Leave it out."
    return f"{short(name)} is not known here. {hint}"


def expected(hint: Any) -> str:
    """Return how a value of a type is written."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        bounds: Between = parts[1]
        return bounds.expected(parts[0])
    if origin in (Union, UnionType):
        return " or ".join(expected(part) for part in parts if part is not NoneType)
    if origin in (list, tuple):
        return f"{expected(parts[0])}, or a list of such"
    if origin is Literal or hint is Path:
        return _WORDS[str]
    return _WORDS.get(hint, "a table")


def short(value: object) -> str:
    """Return a value as text of at most 60 characters."""
    try:
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
    except ValueError:  # of Python, for an integer of thousands of digits
        return "a number of thousands of digits"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
