"""How long the files of tests take: recorded in `tests/durations.json`, which orders the next run.

Recorded are the seconds of what `make test` runs; tests marked `exhaustive` are left out, in `make
test-all` too, so that each run can be held against the record. The record itself may hold no file
over `LIMIT_SECONDS` that is not listed as one that may: that is looked at where it is made.

A run fails only if a file takes over `SPREAD` times its limit, after its seconds were scaled to the
machine of the record: a slow machine, and what varies between two runs, fail nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "durations.json"
LIMIT_SECONDS = 5.0
"""Most that a file may take, on one core of the machine of the record."""
SPREAD = 3.0
"""By how much a file may differ from the others in how long it takes on two machines, or beside
other files: nine of ten files are within 2.6 times between the two records of November 2026."""


@dataclass(frozen=True, slots=True)
class Record:
    """The seconds of each file, and why some may take longer than the limit."""

    seconds: Mapping[str, float]
    may_exceed: Mapping[str, str]
    """File -> what takes so long in it."""

    @classmethod
    def read(cls, path: Path = RECORD) -> Record:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path = RECORD) -> None:
        rounded = {file: round(self.seconds[file], 1) for file in sorted(self.seconds)}
        record = {"may_exceed": dict(sorted(self.may_exceed.items())), "seconds": rounded}
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    def slowdown(self, seconds: Mapping[str, float]) -> float:
        """Return how many times longer than the record the files took that are in both."""
        known = self.seconds.keys() & seconds.keys()
        recorded = sum(self.seconds[file] for file in known)
        return sum(seconds[file] for file in known) / recorded if recorded else 1.0

    def too_long(self, seconds: Mapping[str, float], spread: float = 1.0) -> dict[str, float]:
        """Return the files over `spread` limits that may not be, with their scaled seconds."""
        slowdown = max(1.0, self.slowdown(seconds))
        return {
            file: taken / slowdown
            for file, taken in sorted(seconds.items())
            if taken / slowdown > spread * LIMIT_SECONDS and file not in self.may_exceed
        }


@dataclass(slots=True, eq=False)  # pytest puts plugins into sets
class Durations:
    """A plugin of the process that collects the reports: it adds up the seconds of each file."""

    is_recorded: bool
    """Write the record instead of holding the run against it."""
    seconds: Counter[str] = field(default_factory=Counter)  # type: ignore[arg-type]
    problems: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "exhaustive" not in report.keywords:
            self.seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        before = Record.read()
        if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return  # not a whole run
        if self.is_recorded:
            Record(self.seconds, before.may_exceed).write()
            return
        self.problems = [
            f"{file} took {taken:.0f} s. A file may take {LIMIT_SECONDS:.0f} s: make it faster, or "
            f"say under may_exceed in {RECORD.name} what takes so long."
            for file, taken in before.too_long(self.seconds, SPREAD).items()
        ]
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for problem in self.problems:
            terminalreporter.write_line(f"FAILED {problem}", red=True)
