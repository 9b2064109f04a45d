"""Compute the results that ship with BertScope, and write them into app/stored.

    python docs/make_stored.py        # minutes
    python docs/make_stored.py door   # what is drawn of the door before Python answers, alone

Opens the pages below with each shipped checkpoint, as a visitor does, and stores what the functions
of STORED return. A file whose result has not changed beyond rounding keeps its bytes; only the
digest of the sources is written anew. What is no longer asked for is deleted.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("BERTSCOPE_ACCESS", "open")

from app.parts.component import Component  # noqa: E402
from app.parts.door.door import FIRST as FIRST_DOORS  # noqa: E402
from app.server.policy import CHECKPOINT_VARIABLE  # noqa: E402
from app.shell import stored  # noqa: E402
from app.shell.jobs import background, waiting  # noqa: E402
from app.shell.jobs.compute import Compute  # noqa: E402
from app.shell.words.language import languages  # noqa: E402
from bertcore.model.checkpoints.source import SHIPPED  # noqa: E402

CHECKPOINTS = [name for name in SHIPPED if not name.startswith("toy-")]
"""Toys are computed in no time."""
PAGES = ("heads", "bias")
STORED = (
    "app.screens.heads.job:_report",
    "bertcore.analysis.heads.sinks:find_sinks",
    "bertcore.analysis.bias.quality:grammar_exam",
)
"""Functions that take more than a second of processor time on a first visit; the others of these
pages, and all of other pages, take less."""
RTOL, ATOL = 1e-3, 1e-4
"""Of numbers, since sums of another number of threads round in another order."""
MOST_SECONDS = 900.0

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


# ---- results ----


def computed(checkpoint: str, pages: Iterable[str] = PAGES) -> dict[str, tuple[str, Any]]:
    """Return the results of the functions of STORED that pages ask for first.

    Args:
        checkpoint: A shipped one.

    Returns:
        Digest of the call -> name of the function, and its result.
    """
    found: dict[str, tuple[str, Any]] = {}
    call, find = Compute.__call__, stored.find

    def recorded(self: Compute, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        value = call(self, function, *args, **kwargs)
        name = stored.name_of(function)
        if name in STORED:
            with suppress(stored.Unnamed):  # a network of transformers has no fingerprint
                found[stored.digest_of(function, args, kwargs)] = name, value
        return value

    patience, waiting.PATIENCE_SECONDS = waiting.PATIENCE_SECONDS, MOST_SECONDS
    usual, background.PATIENCE = background.PATIENCE, MOST_SECONDS
    Compute.__call__, stored.find = recorded, lambda *_: None  # type: ignore[method-assign]
    before = os.environ.get(CHECKPOINT_VARIABLE)
    os.environ[CHECKPOINT_VARIABLE] = checkpoint
    try:
        for page in pages:
            _visit(page)
    finally:
        Compute.__call__, stored.find = call, find  # type: ignore[method-assign]
        waiting.PATIENCE_SECONDS, background.PATIENCE = patience, usual
        os.environ.pop(CHECKPOINT_VARIABLE)
        if before is not None:
            os.environ[CHECKPOINT_VARIABLE] = before
    return found


def _visit(page: str, **query: str) -> None:
    """Open a page until all that it asks for is computed."""
    start = time.monotonic()
    visit = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=MOST_SECONDS)
    visit.query_params.update(query)
    visit.run()
    while visit.get("progress") and time.monotonic() - start < MOST_SECONDS:
        for job in list(background._jobs.values()):
            job.ended.wait(MOST_SECONDS)
        visit.run()
    if visit.exception:
        raise RuntimeError(f"{page}: {visit.exception}")


def difference(one: Any, other: Any, where: str = "result") -> str:
    """Return where two results differ beyond rounding; "" if they do not."""
    if isinstance(one, float) and isinstance(other, float):
        return "" if np.isclose(one, other, RTOL, ATOL, equal_nan=True) else where
    if type(one) is not type(other):
        return where
    if hasattr(one, "dtype"):
        first, second = np.asarray(one), np.asarray(other)
        if first.shape != second.shape:
            return where
        if first.dtype.kind not in "fc":
            return "" if np.array_equal(first, second) else where
        return "" if np.allclose(first, second, RTOL, ATOL, equal_nan=True) else where
    parts: list[list[Any]]
    if isinstance(one, dict):
        parts = [[*each.keys(), *each.values()] for each in (one, other)]
    elif isinstance(one, list | tuple):
        parts = [list(one), list(other)]
    elif is_dataclass(one):
        names = [field.name for field in fields(one)]
        parts = [[getattr(each, name) for name in names] for each in (one, other)]
    else:
        return "" if one == other else where
    if len(parts[0]) != len(parts[1]):
        return where
    named = zip(parts[0], parts[1], range(len(parts[0])), strict=True)
    return next((found for a, b, n in named if (found := difference(a, b, f"{where}.{n}"))), "")


def first_doors() -> dict[str, Any]:
    """Return what the door draws first in each language, with the checkpoint that opens first."""
    told: dict[str, Any] = {}
    call = Component.__call__

    def noted(self: Component, data: Any, *, key: str, **listeners: Any) -> Any:
        if key == "door":
            told[code] = data
        return call(self, data, key=key, **listeners)

    Component.__call__ = noted  # type: ignore[method-assign]
    try:
        for code in languages():
            _visit("door", lesson_language=code)
    finally:
        Component.__call__ = call  # type: ignore[method-assign]
    return told


# ---- sources ----


def sources_of(called: str) -> list[str]:
    """Return the files that a function's results depend on, as `stored.digest_of_sources` has them.

    They are the modules of bertcore that it imports, directly or through others, and the files
    beside these that are no Python; of app those of its own folder and of `sources`. Of a package's
    `__init__`, only the modules of the imported names count.

    Args:
        called: As of `stored.name_of`.
    """
    first = called.partition(":")[0]
    folders = (first.rpartition(".")[0], "app.sources")
    found: set[Path] = set()
    modules = [first]
    while modules:
        module = modules.pop()
        path = _path(module)
        is_ours = module.startswith("bertcore.") or module.startswith(folders)
        if path is None or path in found or not is_ours:
            continue
        found.add(path)
        modules += _imported(module)
    data = {
        beside
        for path in found
        if path.is_relative_to(ROOT / "bertcore")
        for folder in (path.parent, path.parent / "data")
        for beside in (folder.iterdir() if folder.is_dir() else ())
        if beside.is_file() and beside.suffix not in (".py", ".pyc", ".md")
    }
    return sorted(path.relative_to(ROOT).as_posix() for path in found | data)


@cache
def _imported(module: str) -> list[str]:
    """Return the modules of bertcore and app that a module imports, at any depth of its code."""
    path = _path(module)
    assert path is not None
    package = list(PurePosixPath(path.relative_to(ROOT).as_posix()).parent.parts)
    names: list[str] = []
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names += [_home(origin, alias.name) for alias in node.names]
    return [name for name in names if name.partition(".")[0] in stored.ROOTS]


def _nodes(path: Path) -> Iterator[ast.AST]:
    """Yield the nodes of a file, without what only type checkers read."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        yield node
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not is_for_types or path == ROOT / "bertcore" / "__init__.py":
            nodes += ast.iter_child_nodes(node)


@cache
def _home(module: str, name: str) -> str:
    """Return the module that a name which is imported from a module comes from."""
    path = _path(module)
    if path is None:
        return module
    if _path(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    if path.name == "__init__.py":
        for node in _nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _home(node.module, alias.name)
    return module


@cache
def _path(module: str) -> Path | None:
    """Return the file of one of our modules; None for others."""
    place = ROOT.joinpath(*module.split("."))
    if place.parts[len(ROOT.parts)] not in stored.ROOTS:
        return None
    paths = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in paths if path.is_file()), None)


# ---- files ----


def sources() -> dict[str, Any]:
    """Return the part of the manifest that states the sources of each function."""
    listed = {name: sources_of(name) for name in STORED}
    return {
        name: {"digest": stored.digest_of_sources(files), "files": files}
        for name, files in listed.items()
    }


def write(results: dict[str, tuple[str, Any, str]]) -> None:
    """Write the files and their manifest, and delete other files.

    Args:
        results: Digest of a call -> name of the function, its result, checkpoint.
    """
    entries = {}
    for digest, (name, value, checkpoint) in sorted(results.items()):
        path = stored.FOLDER / f"{digest}.npz"
        try:
            is_same = not difference(stored.unpacked(path.read_bytes()), value)
        except (OSError, ValueError):
            is_same = False
        if not is_same:
            path.write_bytes(stored.packed(value))
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        entries[digest] = {"of": name, "checkpoint": checkpoint, "content": content}
    for path in stored.FOLDER.glob("*.npz"):
        if path.stem not in entries:
            path.unlink()
    manifest = json.dumps({"results": entries, "sources": sources()}, indent=1)
    (stored.FOLDER / stored.MANIFEST).write_text(f"{manifest}\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Make all of them, or the door alone."""
    text = json.dumps(first_doors(), ensure_ascii=False)
    FIRST_DOORS.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    if sys.argv[1:] == ["door"]:
        return
    stored.FOLDER.mkdir(exist_ok=True)
    results: dict[str, tuple[str, Any, str]] = {}
    for checkpoint in CHECKPOINTS:
        for digest, (name, value) in computed(checkpoint).items():
            results.setdefault(digest, (name, value, checkpoint))
            print(f"{checkpoint} {name} {len(stored.packed(value)):,} bytes")
    write(results)


if __name__ == "__main__":
    main()
