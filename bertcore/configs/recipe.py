"""Recipes: TOML files with the settings of a pretraining or fine-tuning, by name of the field."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from bertcore.base.toml_tables import parse_toml, read_value, sentence_of, unknown_name
from bertcore.configs.numbers import check_numbers

FOLDER = Path(__file__).with_name("recipes")
SUFFIX = ".toml"


class Setting(NamedTuple):
    """A known setting."""

    type: Any
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of recipes."""

    settings: Mapping[str, Any]
    """Of all of them."""
    shipped: Mapping[str, Any]
    """Of those that ship."""
    own: frozenset[str]
    """Names in files of the user's."""


def shipped_recipes(command: str) -> dict[str, Path]:
    """Return the recipes that ship for "pretrain" or "finetune", by name."""
    start = f"{command}-"
    return {p.stem.removeprefix(start): p for p in sorted(FOLDER.glob(f"{start}*{SUFFIX}"))}


def read_recipes(names: Iterable[str], command: str, known: Mapping[str, Setting]) -> Recipe:
    """Return the settings of recipes, a later one of which overrides those before it.

    The names are of shipped ones, or files that end in .toml; `command` is "pretrain" or
    "finetune". ValueError if there is no such recipe, or as `read_recipe`. OSError if a file cannot
    be read.
    """
    shipped = shipped_recipes(command)
    settings: dict[str, Any] = {}
    ships: dict[str, Any] = {}
    own: set[str] = set()
    for name in names:
        path = shipped.get(name) or Path(name).expanduser()
        if path.suffix != SUFFIX:
            raise ValueError(
                f"recipe is {name!r}; expected {', '.join(shipped)}, or a file that ends in .toml."
            )
        read = read_recipe(path, known)
        settings |= read
        if name in shipped:
            ships |= read
        else:
            own |= read.keys()
    return Recipe(settings, ships, frozenset(own))


def read_recipe(path: Path, known: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the settings of a TOML file, each as its dataclass has it.

    ValueError if it is not TOML, or a setting is unknown, of another type or out of range. OSError
    if it cannot be read.
    """
    try:
        values = parse_toml(path.read_text(encoding="utf-8-sig"), str(path))
    except ValueError as error:  # not TOML, or not UTF-8
        raise ValueError(f"{str(path)!r} is no recipe: {error}") from error
    settings: dict[str, Any] = {}
    faults = [unknown_name(name, known) for name in values if name not in known]
    for name in filter(known.__contains__, values):
        check_numbers([(name, values[name])])  # a whole number beyond all floats too
        settings[name] = read_value(values[name], known[name].type, name, faults)
    if faults:
        raise ValueError(f"{str(path)!r}: {sentence_of(faults)}")
    for name, value in settings.items():
        least = known[name].least
        if least is not None and value < least:
            raise ValueError(f"{name} is {value}; expected at least {least}.")
    check_numbers(settings.items())
    return settings


def write_recipe(path: Path, settings: Mapping[str, Any]) -> None:
    """Write settings to a file for `read_recipe`; OSError if it cannot be written."""
    path.write_text(recipe_text(settings), encoding="utf-8")


def recipe_text(settings: Mapping[str, Any]) -> str:
    """Return settings in TOML; those that are None are left out.

    >>> recipe_text({"layers": 2, "corpus": [Path("a.txt")], "start": "noise", "heads": None})
    'layers = 2\\ncorpus = ["a.txt"]\\nstart = "noise"\\n'
    """
    lines = (
        f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}\n"
        for name, value in settings.items()
        if value is not None
    )
    return "".join(lines).replace("\x7f", "\\u007f")  # which JSON leaves as it is


def settings_of_configs(configs: Iterable[type], without: str = "") -> dict[str, Setting]:
    """Return the fields of dataclasses by name, but for those of a space-separated list."""
    return {
        field.name: Setting(hints[field.name], field.metadata.get("min"))
        for config in configs
        for hints in [get_type_hints(config)]
        for field in fields(config)
        if field.name not in without.split()
    }


def changes_of(recipe: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Return where given settings leave a recipe, such as "layers 4 instead of 12"."""
    return [
        f"{name} {given[name]} instead of {value}"
        for name, value in recipe.items()
        if name in given and given[name] != value
    ]
