"""Every Picture of the app: a caption, Python that compiles, a name of its own; every Field too."""

import ast
import importlib
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest

import app
from app.shell.picture import Picture
from app.shell.state import Field

FOLDER = Path(app.__path__[0])


def instances(kind: type) -> dict[str, object]:
    """Return what the app's modules declare of a class, by module and name."""
    found = {}
    for path in sorted(FOLDER.rglob("*.py")):
        parts = path.relative_to(FOLDER.parent).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        if module == "app.main":  # importing it would run it
            continue
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, kind) and all(value is not other for other in found.values()):
                found[f"{module}.{name}"] = value
    return found


PICTURES: dict[str, Picture] = instances(Picture)  # type: ignore[assignment]
FIELDS: dict[str, Field] = instances(Field)  # type: ignore[type-arg, assignment]


class _Anything:
    """Stands for any value in a text's braces, with any format."""

    def __format__(self, spec: str) -> str:
        return "0"

    def __repr__(self) -> str:
        return "0"


def filled(text: str) -> str:
    names = {name for _, name, _, _ in Formatter().parse(text) if name}
    return text.format(**dict.fromkeys(names, _Anything()))


@pytest.mark.parametrize("where", PICTURES)
def test_each_picture_says_how_to_read_it(where: str) -> None:
    assert len(filled(PICTURES[where].how)) > 40


@pytest.mark.parametrize("where", PICTURES)
def test_the_python_of_each_picture_compiles(where: str) -> None:
    ast.parse(filled(PICTURES[where].code))


def test_names_of_pictures_are_unique() -> None:
    names = Counter(picture.name for picture in PICTURES.values())
    assert [name for name, count in names.items() if count > 1] == []


def test_names_of_fields_are_unique() -> None:
    """Two pages with one field's name would overwrite each other's choice."""
    names = Counter(field.name for field in FIELDS.values())
    assert [name for name, count in names.items() if count > 1] == []


def test_fields_are_found() -> None:
    assert "app.masked_words.page.TOP_K" in FIELDS
