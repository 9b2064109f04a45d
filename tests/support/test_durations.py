"""The record of durations: its limit, a machine that is slower as a whole, and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.durations import RECORD, SPREAD, Durations, Record

MADE_UP = Record({"a.py": 10.0, "b.py": 5.0, "long.py": 45.0}, may_exceed=["long.py"])


def test_a_file_over_the_limit_is_named_unless_it_is_listed() -> None:
    seconds = {"a.py": 10.0, "b.py": 5.0, "long.py": 45.0, "new.py": 21.0}
    assert MADE_UP.too_long(seconds) == {"new.py": 21.0}
    assert MADE_UP.too_long({**seconds, "new.py": 19.0}) == {}
    assert MADE_UP.too_long({**seconds, "new.py": 1.0, "b.py": 30.0}).keys() == {"b.py"}


def test_a_slow_machine_alone_fails_nothing() -> None:
    slow = {"a.py": 30.0, "b.py": 15.0, "long.py": 135.0, "new.py": 57.0}
    assert MADE_UP.slowdown(slow) == 3
    assert MADE_UP.too_long(slow) == {}
    assert MADE_UP.too_long({**slow, "new.py": 63.0}) == {"new.py": pytest.approx(21)}


def test_what_varies_between_two_runs_fails_nothing() -> None:
    seconds = {"a.py": 10.0, "b.py": 50.0, "long.py": 0.0, "new.py": 59.0}
    assert MADE_UP.too_long(seconds, SPREAD) == {}
    assert MADE_UP.too_long({**seconds, "new.py": 61.0}, SPREAD) == {"new.py": 61.0}


def test_exhaustive_tests_are_left_out() -> None:
    durations = Durations(is_recorded=False)
    for keywords in ({}, {"exhaustive": 1}):
        place = ("a.py", 0, "test")
        report = pytest.TestReport("a.py::test", place, keywords, "passed", None, "call")
        report.duration = 5.0
        durations.pytest_runtest_logreport(report)
    assert durations.seconds == {"a.py": 5.0}


def test_a_fast_machine_does_not_lower_the_limit() -> None:
    assert MADE_UP.too_long({"a.py": 1.0, "b.py": 0.5, "long.py": 4.5, "new.py": 19.0}) == {}


def test_nothing_known_is_no_slowdown() -> None:
    assert MADE_UP.slowdown({"new.py": 50.0}) == 1


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "durations.json"
    MADE_UP.write(file)
    assert Record.read(file) == MADE_UP


def test_the_record_of_this_project_holds_its_own_limit() -> None:
    record = Record.read(RECORD)
    assert record.too_long(record.seconds) == {}
    root = RECORD.parents[1]
    assert [file for file in record.may_exceed if not (root / file).is_file()] == []
