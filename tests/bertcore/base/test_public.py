"""A package's public names are those that its `__init__` imports."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from bertcore.base.moved import moved
from bertcore.base.public import imported


def test_names_are_listed_once_in_order_without_modules_and_private_ones() -> None:
    names = {"moved": moved, "JSON": 1, "_loads": json.loads, "json": json}
    own = {"FILE": Path("a"), "Kind": Literal["a", "b"]}  # made here of others' classes
    expected = ["FILE", "JSON", "Kind", "moved"]
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
        imported({"__name__": "a.b", "moved": moved, name: value})
