"""Values of bertcore as JSON and back: the same, and nothing else is ever made of it."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore.base.typed_json import dumps, loads
from bertcore.configs import Columns
from bertcore.data.examples import TaggedExample, TextExample
from bertcore.data.texts import Sentence, Texts
from bertcore.training.tasks.read import Survey

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
keys = st.text() | st.integers() | st.tuples(st.text(), st.integers())
values = st.recursive(
    plain | st.binary().map(lambda data: Path(data.hex() or "a")),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner)
        | st.frozensets(keys)
        | st.builds(Sentence, st.text(), st.none() | st.text(), st.text())
    ),
    max_leaves=30,
)


@given(values)
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    text = dumps(value)
    assert "\n" not in text
    back = loads(text.encode())
    assert back == value
    assert type(back) is type(value)


SURVEY = Survey(num_examples=3, labels={"a": 2, "1": 1}, num_bad=0, first_bad="")


@pytest.mark.parametrize(
    "value",
    [
        SURVEY,
        TextExample("a text \ud800\n", None, "a", 1),
        TaggedExample(["w"] * 1000, ["t"] * 1000, 3),
        Columns(text="a", label_map="0=x"),
        Texts(tuple(Sentence(str(n)) for n in range(1000)), ("note",)),
        Counter({"": 3, "x": 1}),
        {(1, "a"): [frozenset({1}), Path("/a/b")]},
        [float("inf"), -0.0, 10**30],
        list(range(100_000)),
    ],
)
def test_values_of_bertcore_come_back(value: Any) -> None:
    assert loads(dumps(value)) == value


@dataclass
class Foreign:
    """Not of bertcore."""

    x: int


@pytest.mark.parametrize(
    "value", [Foreign(1), object(), b"x", {1, 2}, len, Foreign, SURVEY.first_bad.encode()]
)
def test_nothing_else_is_written(value: Any) -> None:
    with pytest.raises(TypeError):
        dumps([value])


@pytest.mark.parametrize(
    "data",
    [
        {"os:system": ["touch /tmp/x"]},
        {"bertcore.base.limited_process:start_waiting": []},
        {"bertcore.base.limited_process:os.system": ["true"]},
        {"bertcore.no_such:X": []},
        {"bertcore.data.texts:Sentence": ["a", "b"]},
        {"tests.bertcore.base.test_typed_json:Foreign": [1]},
        {"builtins:eval": ["1"]},
        {"list": [1], "tuple": [2]},
        {"Path": [1]},
        {"json": ["1"]},
        '{"list":[' * 100_000 + "]}" * 100_000,
    ],
)
def test_nothing_else_is_made(data: Any) -> None:
    with pytest.raises((ValueError, ImportError)):
        loads(data if isinstance(data, str) else json.dumps(data))
