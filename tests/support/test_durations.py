"""The record of durations: its limit, a machine that is slower as a whole, and its file."""

from pathlib import Path

import pytest

from tests.support.durations import LIMIT_SECONDS, RECORD, SPREAD, Durations, Record

MADE_UP = Record({"a.py": 4.0, "b.py": 2.0, "long.py": 45.0}, may_exceed={"long.py": "trains"})
OVER = LIMIT_SECONDS + 1


@pytest.mark.parametrize(
    ("slowdown", "new", "spread", "is_too_long"),
    [
        (1, OVER, 1.0, True),
        (1, LIMIT_SECONDS - 1, 1.0, False),
        (3, 3 * OVER, 1.0, True),
        (3, 3 * LIMIT_SECONDS - 1, 1.0, False),
        (0.1, LIMIT_SECONDS - 1, 1.0, False),  # a fast machine does not lower the limit
        (1, SPREAD * LIMIT_SECONDS - 1, SPREAD, False),  # as much as two runs vary
        (1, SPREAD * OVER, SPREAD, True),
    ],
)
def test_a_file_over_the_limit_is_named_on_a_machine_of_any_speed(
    slowdown: float, new: float, spread: float, is_too_long: bool
) -> None:
    seconds = {file: slowdown * taken for file, taken in MADE_UP.seconds.items()}
    assert MADE_UP.slowdown(seconds) == pytest.approx(slowdown)
    named = MADE_UP.too_long({**seconds, "new.py": new}, spread)
    assert named == ({"new.py": pytest.approx(new / max(slowdown, 1))} if is_too_long else {})


def test_nothing_known_is_no_slowdown() -> None:
    assert MADE_UP.slowdown({"new.py": 50.0}) == 1


def test_exhaustive_tests_are_left_out() -> None:
    durations = Durations(is_recorded=False)
    for keywords in ({}, {"exhaustive": 1}):
        place = ("a.py", 0, "test")
        report = pytest.TestReport("a.py::test", place, keywords, "passed", None, "call")
        report.duration = 5.0
        durations.pytest_runtest_logreport(report)
    assert durations.seconds == {"a.py": 5.0}


def test_the_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "durations.json"
    MADE_UP.write(file)
    assert Record.read(file) == MADE_UP


def test_the_record_of_this_project_holds_its_own_limit() -> None:
    record = Record.read(RECORD)
    assert record.too_long(record.seconds) == {}
    assert all(record.may_exceed.values())
    root = RECORD.parents[1]
    assert [file for file in record.may_exceed if not (root / file).is_file()] == []
