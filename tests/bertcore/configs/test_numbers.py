"""Numbers that no setting can mean are refused where it is made, and by every command."""

import math
from dataclasses import fields
from typing import Any, get_type_hints

import pytest

from bertcore import configs
from bertcore.configs.debias import DebiasConfig
from bertcore.configs.numbers import INFINITE, MAX_FLOAT, MAX_INT, check_numbers
from tests.support.command_line import refusal

NEEDED: dict[type, dict[str, Any]] = {
    configs.FinetuneConfig: {"learning_rate": 1e-3},
    configs.TrainConfig: {"steps": 10},
}
NUMBERS = [
    (kind, field.name, str(get_type_hints(kind)[field.name]))
    for kind in (*(getattr(configs, name) for name in configs.__all__), DebiasConfig)
    for field in fields(kind)
]
NUMBERS = [row for row in NUMBERS if "float" in row[2] or "int" in row[2]]


@pytest.mark.parametrize(
    ("kind", "name", "annotation"), NUMBERS, ids=[f"{row[0].__name__}-{row[1]}" for row in NUMBERS]
)
def test_every_setting_refuses_what_is_no_number_of_its_kind(
    kind: type, name: str, annotation: str
) -> None:
    needed = {} if name == "minutes" else NEEDED.get(kind, {})
    is_float = "float" in annotation
    for value in (math.nan, math.inf, -math.inf, 1e30) if is_float else (10**30, -(10**30)):
        if name in INFINITE and value == math.inf:
            assert getattr(kind(**{**needed, name: value}), name) == math.inf
            continue
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            kind(**{**needed, name: (value,) if "tuple" in annotation else value})


def test_values_that_are_no_numbers_pass() -> None:
    check_numbers([("a", None), ("b", True), ("c", "nan"), ("d", (1.0, MAX_FLOAT)), ("e", MAX_INT)])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pretrain", "--learning-rate", "nan", "--out", "x"], "--learning-rate is nan"),
        (["pretrain", "--seed", "1" + "0" * 30, "--out", "x"], "--seed is too large"),
        (["finetune", "--out", "x", "--learning-rate", "inf"], "--learning-rate is inf"),
        (["pretrain", "--minutes", "1e30", "--out", "x"], "--minutes is 1e+30"),
        (["app", "--training-minutes", "1e30"], "--training-minutes is 1e+30"),
    ],
)
def test_a_command_refuses_them_before_it_looks_at_files(words: list[str], said: str) -> None:
    assert said in refusal(*words)
