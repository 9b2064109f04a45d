"""What docs/stability.md promises: names, commands and options are those of a committed list.

`python -m tests.test_promised` writes the list anew, so that its difference shows what a change
takes from users; CHANGELOG.md then names it.
"""

import ast
import importlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
import typer

import bertcore
import bertscope
from app.navigation import PAGES
from app.view import all_views, public_module
from bertscope.cli.main import build_app

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "data" / "promised.json"


def public(module: ModuleType) -> list[str]:
    """Return the names of a package's `__all__`, or the functions of a module without one."""
    own = (
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    )
    return sorted(getattr(module, "__all__", own))


@cache
def promised_names() -> dict[str, list[str]]:
    """Return what users import, by module: what `__all__` reaches from the two packages."""
    names: dict[str, list[str]] = {}
    left: list[ModuleType] = [bertcore, bertscope]
    while left:
        module = left.pop()
        names[module.__name__] = public(module)
        values = (getattr(module, name) for name in public(module))
        left += [value for value in values if isinstance(value, ModuleType)]
    return names


def promised() -> dict[str, Any]:
    """Return the names of packages, the options of commands, and the pages' addresses."""
    commands: Any = typer.main.get_command(build_app())
    return {
        "names": promised_names(),
        "commands": {name: _options(each) for name, each in sorted(commands.commands.items())},
        "pages": sorted(page.name for page in PAGES.values()),
    }


def _options(command: click.Command) -> list[str]:
    names = (
        parameter.opts + parameter.secondary_opts
        if parameter.param_type_name == "option"
        else [str(parameter.name).upper()]
        for parameter in command.params
    )
    return sorted("/".join(sorted(each)) for each in names)


def lost(before: Any, now: Any) -> list[str]:
    """Return what was promised and is no longer there."""
    if isinstance(before, dict):
        gone = [key for key in before if key not in now]
        return gone + [
            f"{key}: {name}" for key in before if key in now for name in lost(before[key], now[key])
        ]
    return [name for name in before if name not in now]


def test_nothing_promised_is_lost_or_unlisted() -> None:
    listed, found = json.loads(FILE.read_text(encoding="utf-8")), promised()
    assert lost(listed, found) == []
    assert lost(found, listed) == [], "write the list anew: python -m tests.test_promised"


def test_a_lost_name_and_a_lost_option_are_seen() -> None:
    found = promised()
    listed = json.loads(json.dumps(found))
    listed["names"]["bertcore"].append("gone")
    listed["commands"]["encode"].append("--gone")
    assert lost(listed, found) == ["names: bertcore: gone", "commands: encode: --gone"]


IMPORT = re.compile(r"\bfrom (bert(?:core|scope)[\w.]*) import (\([^)]*|[^\n\"'`;#]*)")


def imported(text: str) -> Iterator[str]:
    """Yield the dotted names that Python in a text imports from our packages."""
    yield from re.findall(r"\bimport (bert(?:core|scope)[\w.]*)", text)
    for module, names in IMPORT.findall(text):
        yield from (f"{module}.{name}" for name in re.findall(r"(?:^|[,(])\s*(\w+)", names))


def is_promised(dotted: str) -> bool:
    """Return whether each step of a dotted name is public, down to a class or function."""
    package, *names = dotted.split(".")
    place: Any = importlib.import_module(package)
    for name in names:
        if isinstance(place, ModuleType) and name not in promised_names()[place.__name__]:
            return False
        place = getattr(place, name)
    return True


def shown() -> Iterator[tuple[Path, str]]:
    """Yield the texts that show Python: documents, notebooks, and the strings of the app."""
    for path in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        yield path, path.read_text(encoding="utf-8")
    for path in ROOT.glob("notebooks/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield from ((path, "".join(cell["source"])) for cell in cells)
    for path in ROOT.glob("app/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path, node.value


def test_what_documents_and_shown_python_import_is_promised() -> None:
    names = [(path, name) for path, text in shown() for name in imported(text)]
    assert [f"{path}: {name}" for path, name in names if not is_promised(name)] == []
    assert len(names) > 60


def test_the_functions_of_views_are_promised() -> None:
    functions = [view.of for view in all_views().values() if "." not in view.of.__qualname__]
    names = {f"{public_module(function)}.{function.__name__}" for function in functions}
    assert [name for name in sorted(names) if not is_promised(name)] == []


@pytest.mark.parametrize(
    "text",
    [
        "from bertcore.analysis.words.lens import layer_predictions",
        "x\n    from bertcore.analysis import (\n    surprise,\n    nothing as surprise,\n)",
        "`from bertcore.analysis import surprise, regions`",
        "from bertcore import network",
    ],
)
def test_an_import_that_is_not_promised_is_found(text: str) -> None:
    assert not all(is_promised(name) for name in imported(text))


if __name__ == "__main__":
    text = json.dumps(promised(), indent=1, ensure_ascii=False, sort_keys=True)
    FILE.write_text(f"{text}\n", encoding="utf-8")
