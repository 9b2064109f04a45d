"""A package's public names are those that its `__init__` imports, and each is there."""

import json
from pathlib import Path
from typing import Any, Literal

import pytest

import bertcore
from bertcore.base.durations import duration
from bertcore.base.public import homes, imported
from tests.support.run_python import run_python


def test_names_are_listed_once_in_order_without_modules_and_private_ones() -> None:
    names = {"duration": duration, "JSON": 1, "_loads": json.loads, "json": json}
    own = {"FILE": Path("a"), "Kind": Literal["a", "b"]}  # made here of others' classes
    expected = ["FILE", "JSON", "Kind", "duration"]
    assert imported({**names, **own, "imported": imported}) == expected


@pytest.mark.parametrize(
    ("name", "value"), [("Any", Any), ("Literal", Literal), ("Path", Path), ("dumps", json.dumps)]
)
def test_names_of_other_projects_do_not_become_public(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"package a\.b imports {name} of another project"):
        imported({"__name__": "a.b", "duration": duration, name: value})


def test_a_package_imports_at_first_use_what_it_writes_for_type_checkers() -> None:
    script = (
        "import sys, bertcore, bertcore.analysis\n"
        "assert 'torch' not in sys.modules\n"
        "assert dir(bertcore.analysis) == bertcore.analysis.__all__\n"
        "from bertcore.analysis import attribution, surprise\n"
        "assert surprise.__module__ == 'bertcore.analysis.words.surprise'\n"
        "assert bertcore.analysis.attribution is attribution\n"
    )
    run_python("-c", script)
    assert homes("bertcore", bertcore.__file__)["analysis"] == "bertcore.analysis"
    with pytest.raises(AttributeError, match=r"module 'bertcore' has no attribute 'lode'"):
        bertcore.lode  # noqa: B018
