"""A package's public names are those that its `__init__` imports."""

import json
from types import ModuleType

from bertcore.base.public import imported


def test_names_are_listed_once_in_order_without_modules_and_private_ones() -> None:
    names = {"dumps": json.dumps, "JSON": 1, "_loads": json.loads, "json": json}
    assert imported({**names, "imported": imported}) == ["JSON", "dumps"]
    assert isinstance(json, ModuleType)
