"""Every Field of the app has a name of its own."""

import importlib
from collections import Counter
from pathlib import Path

import app
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


FIELDS: dict[str, Field] = instances(Field)  # type: ignore[type-arg, assignment]


def test_names_of_fields_are_unique() -> None:
    """Two pages with one field's name would overwrite each other's choice."""
    names = Counter(field.name for field in FIELDS.values())
    assert [name for name, count in names.items() if count > 1] == []


def test_fields_are_found() -> None:
    assert "app.masked_words.page.TOP_K" in FIELDS
