"""The record of durations: its limit, and a machine that is slower as a whole."""

import pytest

from tests.support.durations import LIMIT_SECONDS, RECORD, SPREAD, Record

MADE_UP = Record({"a.py": 4.0, "b.py": 2.0, "long.py": 45.0}, may_exceed={"long.py": "trains"})
OVER = LIMIT_SECONDS + 1


@pytest.mark.parametrize(
    ("slowdown", "new", "spread", "is_too_long"),
    [
        (1, OVER, 1.0, True),
        (3, 3 * OVER, 1.0, True),
        (3, 3 * LIMIT_SECONDS - 1, 1.0, False),
        (0.1, LIMIT_SECONDS - 1, 1.0, False),  # a fast machine does not lower the limit
        (1, SPREAD * LIMIT_SECONDS - 1, SPREAD, False),  # as much as two runs vary
    ],
)
def test_a_file_over_the_limit_is_named_on_a_machine_of_any_speed(
    slowdown: float, new: float, spread: float, is_too_long: bool
) -> None:
    seconds = {file: slowdown * taken for file, taken in MADE_UP.seconds.items()}
    named = MADE_UP.too_long({**seconds, "new.py": new}, spread)
    assert named == ({"new.py": pytest.approx(new / max(slowdown, 1))} if is_too_long else {})


def test_the_record_of_this_project_holds_its_own_limit() -> None:
    record = Record.read(RECORD)
    assert record.too_long(record.seconds) == {}
    assert [file for file in record.may_exceed if not (RECORD.parents[1] / file).is_file()] == []
