"""Numbers as learners type them, read alike in the app and in a live file."""

import json
from pathlib import Path

import pytest

from bertcore.lessons.typed_number import typed_number

CASES = json.loads(Path(__file__).with_name("typed_numbers.json").read_text())


@pytest.mark.parametrize(("typed", "language", "number"), CASES)
def test_a_number_is_read_as_it_is_meant(typed: str, language: str, number: float | None) -> None:
    assert typed_number(typed, language) == number


def test_percent_is_what_a_question_asks_for() -> None:
    assert typed_number("79,5 %", "en", is_percent=True) == 79.5
    assert typed_number("79,5", "en", is_percent=True) == 79.5
