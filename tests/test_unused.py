"""Each name that the source defines is used outside the tests: in code, documents or notebooks."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ("bertcore", "app", "bertscope", "pages")
READERS = (*SOURCE, "docs", "notebooks", "benchmarks", "README.md", "Makefile", "pyproject.toml")
KINDS = (".py", ".ts", ".md", ".ipynb", ".toml", ".html", ".jinja", "")
OTHERS_CALL = {"readinto", "mems", "past_key_values"}
"""Names by which a library calls what we define."""
WORD = re.compile(r"[A-Za-z_]\w*")


@cache
def uses() -> Counter[str]:
    """How often each word occurs in what is not a test."""
    words: Counter[str] = Counter()
    for name in READERS:
        place = ROOT / name
        for path in place.rglob("*") if place.is_dir() else [place]:
            if path.suffix in KINDS and path.is_file() and "__pycache__" not in path.parts:
                words.update(WORD.findall(path.read_text(encoding="utf-8", errors="ignore")))
    return words


def defined(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names of functions, classes, fields and constants of a module and its classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.ClassDef):
            yield from defined(node.body)


@pytest.mark.parametrize("folder", SOURCE)
def test_each_name_is_used(folder: str) -> None:
    unused = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in defined(ast.parse(path.read_text(encoding="utf-8")).body)
        if uses()[name] < 2 and not name.startswith("_repr") and name not in OTHERS_CALL
        if not (name.startswith("__") and name.endswith("__"))
    ]
    assert not unused, "only a test uses them, or nothing: " + ", ".join(unused)


def test_a_name_that_nothing_uses_is_found() -> None:
    body = ast.parse("class Box:\n    nowhere_else: int\n    def never_called(self): ...").body
    assert [*defined(body)] == ["Box", "nowhere_else", "never_called"]
    assert not uses()["never" + "_called"]
