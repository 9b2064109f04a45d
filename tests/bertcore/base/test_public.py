"""A package's public names are those that its `__init__` imports, and each is there."""

import importlib
import json
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

import bertcore
import bertscope
from bertcore.base.durations import duration
from bertcore.base.public import imported

PACKAGES = [
    module.name
    for package in (bertcore, bertscope)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.ispkg and not module.name.startswith("bertscope.app")
]


def test_names_are_listed_once_in_order_without_modules_and_private_ones() -> None:
    names = {"duration": duration, "JSON": 1, "_loads": json.loads, "json": json}
    own = {"FILE": Path("a"), "Kind": Literal["a", "b"]}  # made here of others' classes
    expected = ["FILE", "JSON", "Kind", "duration"]
    assert imported({**names, **own, "imported": imported}) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Any", Any),
        ("Literal", Literal),
        ("Sequence", Sequence),
        ("Path", Path),
        ("dumps", json.dumps),
    ],
)
def test_names_of_other_projects_do_not_become_public(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"package a\.b imports {name} of another project"):
        imported({"__name__": "a.b", "duration": duration, name: value})


@pytest.mark.parametrize("name", PACKAGES)
def test_each_exported_name_is_there(name: str) -> None:
    package = importlib.import_module(name)
    for exported in package.__all__:
        try:
            importlib.import_module(f"{name}.{exported}")
        except ModuleNotFoundError:
            assert getattr(package, exported, None) is not None, exported
