"""What docs/stability.md promises: names, commands and options are those of a committed list.

`python -m tests.test_promised` writes the list anew, so that its difference shows what a change
takes from users; CHANGELOG.md then names it.
"""

import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any

import click
import pytest
import typer

import bertcore
import bertscope
from app.navigation import PAGES
from bertscope.cli.main import build_app

FILE = Path(__file__).parent / "data" / "promised.json"


def promised() -> dict[str, Any]:
    """Return the names of packages, the options of commands, and the pages' addresses."""
    packages = [bertscope, bertcore] + [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(bertcore.__path__, "bertcore.")
        if found.ispkg
    ]
    commands: Any = typer.main.get_command(build_app())
    return {
        "names": {p.__name__: sorted(p.__all__) for p in packages if getattr(p, "__all__", ())},
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


@pytest.mark.parametrize("package", sorted(json.loads(FILE.read_text(encoding="utf-8"))["names"]))
def test_promised_names_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:  # a name, or a module of the package
        assert hasattr(module, name) or importlib.import_module(f"{package}.{name}")


if __name__ == "__main__":
    text = json.dumps(promised(), indent=1, ensure_ascii=False, sort_keys=True)
    FILE.write_text(f"{text}\n", encoding="utf-8")
