"""Results that ship with BertScope: what a page computes first with a shipped checkpoint.

`docs/make_stored.py` makes them. One is of use only while nothing has changed that it was made
from: the files and weights of the checkpoint, the arguments, and the sources of what computes it
(the modules that it imports, and their data). If one of these or the file itself is another one,
the result is computed, like all others.
"""

import hashlib
import io
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import bertcore
from bertcore.base import typed_json
from bertcore.model.checkpoints.adapter import adapter_base
from bertcore.model.checkpoints.source import SHIPPED

from . import cache

log = logging.getLogger("bertscope.app")

APP = Path(__file__).parents[1]
ROOTS = {"app": APP, "bertcore": Path(bertcore.__file__).parent}
"""Folders that the first part of a source's path names; a wheel has `app` inside `bertscope`."""
FOLDER = APP / "stored"
MANIFEST = "manifest.json"
_TEXT = "value"
"""Name of the text of `typed_json` among a file's arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A result that was stored."""

    name: str
    """Digest of the call."""
    value: Any


class Unnamed(Exception):  # noqa: N818 - no error: most calls are not stored
    """An argument has no name that means the same on all machines."""


def find(
    function: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Stored | None:
    """Return the stored result of a call of `Compute`; None if there is none of use."""
    entries, sources = _manifest()
    called = name_of(function)
    if called not in sources or not _is_of_sources(called):
        return None
    try:
        name = digest_of(function, args, kwargs)
    except Unnamed:
        return None
    if name not in entries:
        return None
    found: Stored | None = cache.computed(_read, name)
    return found


def name_of(function: Callable[..., object]) -> str:
    """Return the module and name of a function, the same in a checkout and in a wheel."""
    return f"{function.__module__.removeprefix('bertscope.')}:{function.__qualname__}"


def digest_of(
    function: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> str:
    """Return what identifies a call on all machines, as hexadecimal digits.

    Unnamed if an argument is of no shipped checkpoint and no plain value.
    """
    named = [name_of(function), _named(tuple(args)), _named(tuple(sorted(kwargs.items())))]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:32]


def digest_of_sources(paths: Sequence[str]) -> str:
    """Return the digest of source and data files; "" if one is not there.

    Args:
        paths: From the folder above `bertcore` or `app`, with slashes.
    """
    digest = hashlib.sha256()
    for path in paths:
        top, _, rest = path.partition("/")
        try:
            data = (ROOTS[top] / rest).read_bytes()
        except (OSError, KeyError):
            return ""
        content = hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
        digest.update(f"{path} {content}\n".encode())
    return digest.hexdigest()


def packed(value: Any) -> bytes:
    """Return a result as the bytes of its file.

    TypeError if there is a value in it that `typed_json` does not write.
    """
    arrays: typed_json.Arrays = []
    text = typed_json.dumps(value, arrays).encode()
    named: dict[str, Any] = {str(place): array for place, array in enumerate(arrays)}
    named[_TEXT] = np.frombuffer(text, np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **named)
    return buffer.getvalue()


def unpacked(data: bytes) -> Any:
    """Return the result that the bytes of a file stand for.

    ValueError if they are of no such file.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = [file[str(place)] for place in range(len(file.files) - 1)]
        return typed_json.loads(file[_TEXT].tobytes(), arrays)


def _read(name: str) -> Stored | None:
    """Return a stored result; None, with a line in the log, if its file is not as it was made."""
    entries, _ = _manifest()
    try:
        data = (FOLDER / f"{name}.npz").read_bytes()
        if hashlib.sha256(data).hexdigest() == entries[name]["content"]:
            return Stored(name, unpacked(data))
        problem = "it was changed after it was made"
    except (OSError, ValueError) as error:
        problem = str(error)
    log.warning("the stored result %s is not used: %s. It is computed.", name, problem)
    return None


@lru_cache(maxsize=1)
def _manifest() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the entries of the stored results, and the sources of each function."""
    try:
        read = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
        return dict(read["results"]), dict(read["sources"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("no stored result is used: %s", error)
        return {}, {}


@lru_cache(maxsize=64)
def _is_of_sources(called: str) -> bool:
    """Return whether the sources of a function are those that its results were made with."""
    _, sources = _manifest()
    made_with: str = sources[called]["digest"]
    return digest_of_sources(sources[called]["files"]) == made_with


def _named(value: Any) -> Any:
    """Return an argument as plain values that are the same for equal arguments everywhere."""
    if isinstance(value, cache.BertKey):
        return ["checkpoint", *_identity(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [type(value).__qualname__, *map(_named, value)]
    if is_dataclass(value) and not isinstance(value, type) and type(value).__hash__ is not None:
        named = [getattr(value, field.name) for field in fields(value) if field.compare]
        return [type(value).__qualname__, *map(_named, named)]
    raise Unnamed


def _identity(key: cache.BertKey) -> tuple[str, ...]:
    """Return what distinguishes a shipped checkpoint as it is opened."""
    report = cache.opened(key).report if key.place in SHIPPED else None
    if report is None:
        raise Unnamed
    dtype = next(cache.opened(key).module.parameters()).dtype
    return report.fingerprint, _files_of(key.place), str(dtype)


@lru_cache(maxsize=len(SHIPPED))
def _files_of(place: str) -> str:
    """Return the digest of a shipped checkpoint's files, and of an adapter's base."""
    digest = hashlib.sha256()
    if (base := adapter_base(SHIPPED[place])) is not None:
        digest.update(_files_of(base).encode())
    for path in sorted(path for path in SHIPPED[place].iterdir() if path.suffix != ".md"):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
