"""Jobs beside the page: one per key, in a fair line, watched, given up when nobody asks."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from app.shell.jobs import background
from app.shell.jobs.line import Line
from bertcore.data.files import open_text


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_jobs", type(background._jobs)())
    monkeypatch.setattr(background, "_line", Line())
    monkeypatch.setattr(background, "_works", {})
    monkeypatch.setattr(background, "_turns", {})
    monkeypatch.setattr(background, "most_at_once", lambda: 1)


def wait_for(job: background.Job) -> background.Job:
    deadline = time.monotonic() + 10
    while not job.done and time.monotonic() < deadline:
        time.sleep(0.01)
    assert job.done
    return job


def test_a_job_runs_once_for_equal_keys_and_keeps_its_result() -> None:
    calls: list[int] = []

    def work(progress: background.Progress) -> str:
        calls.append(1)
        return "map"

    first = background.ask(("umap", 1), work)
    assert background.ask(("umap", 1), work) is first
    assert wait_for(first).result == "map"
    assert background.ask(("umap", 1), work).result == "map"
    assert calls == [1]


def test_the_jobs_on_files_of_a_visit_go_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, shipped = ("survey", tmp_path / "visit" / "a.csv"), ("umap", 1)
    for key in (mine, shipped):
        wait_for(background.ask(key, lambda progress: 1))
    monkeypatch.setattr(background.visits, "_visits", {"another": None})
    background.forget_visit(tmp_path / "visit")
    assert list(background._jobs) == [shipped]
    monkeypatch.setattr(background.visits, "_visits", {})
    background.forget_visit(tmp_path / "visit-2")
    assert not background._jobs


def test_asking_never_waits_and_sees_the_progress() -> None:
    go_on, begun = threading.Event(), threading.Event()

    def work(progress: background.Progress) -> None:
        progress(0.4, "Laying out")
        begun.set()
        go_on.wait(10)

    job = background.ask("slow", work)
    assert begun.wait(10)
    again = background.ask("slow", work)
    assert (again.fraction_done, again.stage, again.done) == (0.4, "Laying out", False)
    go_on.set()
    assert wait_for(job).fraction_done == 1


def test_too_little_memory_is_not_remembered_for_ever_and_frees_what_there_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[weakref.ref[torch.Tensor]] = []

    def work(progress: background.Progress) -> str:
        if not kept:
            there = torch.zeros(1000)
            kept.append(weakref.ref(there))
            torch.empty(10**14)
        return "map"

    first = wait_for(background.ask("memory", work))
    assert isinstance(first.error, RuntimeError)
    assert kept[0]() is None
    assert background.ask("memory", work) is first  # still within the seconds
    monkeypatch.setattr(background, "FAILURE_SECONDS", 0.0)
    assert wait_for(background.ask("memory", work)).result == "map"


def test_a_finished_job_can_be_forgotten() -> None:
    first = wait_for(background.ask("files", lambda progress: "written"))
    background.forget("files")
    second = background.ask("files", lambda progress: "again")
    background.forget("none")
    assert second is not first
    assert wait_for(second).result == "again"


def test_what_is_no_exception_ends_the_job_too() -> None:
    class Panic(BaseException):
        pass

    def work(progress: background.Progress) -> None:
        raise Panic

    job = wait_for(background.ask("panics", work))
    assert isinstance(job.error, RuntimeError)
    assert "failed (Panic)" in str(job.error)
    assert wait_for(background.ask("next", lambda progress: "done")).result == "done"


def test_a_job_nobody_asks_about_is_given_up_and_starts_again_when_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "PATIENCE", 0.05)

    def endless(progress: background.Progress) -> None:
        for _ in range(1000):
            time.sleep(0.01)
            progress(0.1, "Working")

    left = wait_for(background.ask("left", endless))
    assert isinstance(left.error, background.GivenUp)
    monkeypatch.setattr(background, "PATIENCE", 60)
    again = background.ask("left", lambda progress: "done")
    assert wait_for(again).result == "done"


def test_a_job_that_is_left_stops_at_once_unless_somebody_else_waits() -> None:
    reports: list[float] = []
    begun, other_asks = threading.Event(), threading.Event()

    def endless(progress: background.Progress) -> None:
        for step in range(1000):
            begun.set()
            other_asks.wait(10)
            time.sleep(0.005)
            progress(step / 1000, "Working")
            reports.append(step)

    background.leave("nobody's")  # nothing to leave is no error
    job = background.ask("left", endless)
    assert begun.wait(10)
    background.leave("left")
    assert background.ask("left", endless) is job  # somebody else came in between
    other_asks.set()
    while not reports:
        time.sleep(0.01)
    background.leave("left")
    assert isinstance(wait_for(job).error, background.GivenUp)
    assert len(reports) < 999


def test_only_so_many_results_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MAX_JOBS", 3)
    for number in range(6):
        wait_for(background.ask(number, lambda progress: "x"))
        background.ask(number, lambda progress: "never")
    assert list(background._jobs) == [3, 4, 5]


def test_a_job_that_one_visitor_left_goes_on_for_another() -> None:
    go_on, stop = threading.Event(), threading.Event()

    def working(progress: background.Progress) -> None:
        while not stop.is_set():
            progress(0.5, "Working")
            go_on.set()
            time.sleep(0.001)

    job = background.ask("shared", working, "first")
    assert background.ask("shared", working, "second") is job
    background.leave("shared", "first")
    for _ in range(2):  # it goes on though it was left; the first report may be of before
        go_on.clear()
        assert go_on.wait(10)
    asked_at = job.asked_at
    assert background.ask("shared", working, "second").asked_at > asked_at
    stop.set()
    assert wait_for(job).error is None


# ---- the line ----


@pytest.fixture
def held() -> Iterator[Held]:
    """Work that waits, so that a line forms behind the first piece."""
    held = Held()
    yield held
    held.go_on.set()


class Held:
    """Work that ends when the test says so, and notes in which order it was begun."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun: list[str] = []

    def work(self, name: str) -> Callable[[background.Progress], str]:
        def run(progress: background.Progress) -> str:
            self.begun.append(name)
            while not self.go_on.is_set():
                progress(0.5, "Working")
                time.sleep(0.002)
            return name

        return run

    def ask(self, name: str, visitor: str) -> background.Job:
        return background.ask(name, self.work(name), visitor)

    def wait_for_the_first(self) -> None:
        while not self.begun:
            time.sleep(0.002)


def test_who_pressed_ten_times_waits_for_who_pressed_once(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MAX_IN_LINE", 10)
    held.ask("eager 0", "eager")
    held.wait_for_the_first()
    jobs = [held.ask(f"eager {number}", "eager") for number in range(1, 10)]
    jobs += [held.ask(name, name) for name in ("quiet", "calm")]
    places = [held.ask(name, name).stage for name in ("quiet", "calm")]
    assert places == ["Waiting: 2 before you", "Waiting: 3 before you"]  # one of each visitor
    held.go_on.set()
    for job in jobs:
        wait_for(job)
    assert held.begun[:5] == ["eager 0", "eager 1", "quiet", "calm", "eager 2"]
    assert held.begun[5:] == [f"eager {number}" for number in range(3, 10)]


def test_a_visitor_has_only_so_many_jobs_in_line_and_the_others_join_later(held: Held) -> None:
    held.ask("eager 0", "eager")
    held.wait_for_the_first()
    names = [f"eager {number}" for number in range(1, 7)]
    for name in names:
        held.ask(name, "eager")
    limit = background.MAX_IN_LINE
    assert background._line.of("eager") == names[:limit]
    assert f"after your {limit} others" in held.ask(names[-1], "eager").stage
    held.ask("quiet", "quiet")  # others are not in the way of the limit
    assert len(background._line.order()) == limit + 1
    held.go_on.set()
    for name in names:
        while not held.ask(name, "eager").done:  # as the page's timer asks
            time.sleep(0.002)
    assert sorted(held.begun) == sorted(["eager 0", "quiet", *names])


def test_jobs_that_are_seen_no_more_make_room(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    held.ask("eager 0", "eager")
    held.wait_for_the_first()
    left = [held.ask(f"page {number}", "eager") for number in range(background.MAX_IN_LINE)]
    monkeypatch.setattr(background, "UNSEEN", 0.0)
    held.ask("new page", "eager")
    assert isinstance(left[0].error, background.GivenUp)
    assert background._line.of("eager") == ["page 1", "page 2", "page 3", "new page"]


def test_a_waiting_job_that_is_stopped_never_begins(held: Held) -> None:
    held.ask("first", "a")
    held.wait_for_the_first()
    waiting, last = held.ask("stopped", "b"), held.ask("last", "c")
    background.leave("stopped", "b")
    assert isinstance(waiting.error, background.GivenUp)
    assert held.ask("last", "c").stage == "Waiting: 1 before you"
    held.go_on.set()
    wait_for(last)
    assert held.begun == ["first", "last"]


def test_who_left_does_not_hold_the_line(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with a job that runs nor with those that wait."""
    here = {"gone", "here"}
    monkeypatch.setattr(background, "is_connected", here.__contains__)
    running = held.ask("running", "gone")
    held.wait_for_the_first()
    waiting, mine = held.ask("waiting", "gone"), held.ask("mine", "here")
    here.remove("gone")
    monkeypatch.setattr(background, "GONE_PATIENCE", 0.0)
    assert isinstance(wait_for(running).error, background.GivenUp)
    held.go_on.set()
    assert wait_for(mine).result == "mine"
    assert isinstance(wait_for(waiting).error, background.GivenUp)
    assert held.begun == ["running", "mine"]


def test_a_result_is_kept_until_the_visitor_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred who press at once ask seldom: the first results must outlive the last ones."""
    monkeypatch.setattr(background, "MAX_JOBS", 3)
    monkeypatch.setattr(background, "MAX_IN_LINE", 100)
    jobs = [
        background.ask(number, lambda progress, n=number: n, f"visitor {number}")  # type: ignore[misc]
        for number in range(100)
    ]
    for job in jobs:
        wait_for(job)
    for number in range(100):
        again = background.ask(number, lambda progress: "never", f"visitor {number}")
        assert again.result == number
    background.ask("another", lambda progress: "x")
    assert len(background._jobs) <= 5


def test_a_job_that_reads_stops_when_nobody_waits_though_it_reports_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "blank.csv"
    path.write_bytes(b"\n" * 10**6)
    monkeypatch.setattr(background.Job, "is_awaited", lambda job: job.fraction_done < 0.5)

    def work(progress: background.Progress) -> int:
        progress(0.9, "Reading")
        with open_text(path) as lines:
            return sum(1 for _ in lines)

    job = wait_for(background.ask("reads", work))
    assert isinstance(job.error, background.GivenUp)


# ---- jobs that were left, and two at once ----


class Silent:
    """Work that reports nothing until the test says so."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, progress: background.Progress) -> str:
        self.begun.set()
        self.go_on.wait(10)
        progress(0.5, "Working")
        return "silent"


def test_the_next_job_does_not_wait_for_one_that_was_left_and_reports_nothing() -> None:
    silent = Silent()
    left = background.ask("left", silent, "a")
    assert silent.begun.wait(10)
    mine = background.ask("mine", lambda progress: "mine", "a")
    assert mine.num_before == 0
    assert not mine.done
    background.leave("left", "a")
    assert wait_for(mine).result == "mine"
    assert not left.done
    silent.go_on.set()
    assert isinstance(wait_for(left).error, background.GivenUp)


def test_two_jobs_compute_at_once_where_there_is_room(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "most_at_once", lambda: 2)
    jobs = [held.ask(name, name) for name in "abc"]
    while len(held.begun) < 2:
        time.sleep(0.002)
    assert jobs[2].stage == "Waiting: 1 before you"
    held.go_on.set()
    for job in jobs:
        wait_for(job)
    assert held.begun == ["a", "b", "c"]


@pytest.mark.parametrize(("cores", "free", "most"), [(2, 2**40, 1), (4, 2**40, 2), (4, 2**30, 1)])
def test_cores_and_memory_decide_how_many(
    cores: int, free: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(background, "_num_cores", lambda: cores)
    monkeypatch.setattr(background, "free_memory", lambda device: free)
    assert background.most_at_once() == most


# ---- slices of time ----


@pytest.fixture
def sliced(held: Held, monkeypatch: pytest.MonkeyPatch) -> Held:
    """Work that gives its turn to other visitors at each report."""
    monkeypatch.setattr(background, "SLICE", 0.0)
    return held


def test_one_job_computes_at_a_time_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "SLICE", 0.0)
    steps: list[str] = []
    at_once: list[int] = []
    computing: set[str] = set()
    all_here = threading.Event()

    def work(name: str) -> Callable[[background.Progress], None]:
        def run(progress: background.Progress) -> None:
            all_here.wait(10)
            for step in range(20):
                computing.add(name)
                at_once.append(len(computing))
                steps.append(name)
                computing.remove(name)
                progress(step / 20, "Working")

        return run

    jobs = [background.ask(name, work(name), name) for name in "abc"]
    all_here.set()
    for job in jobs:
        assert wait_for(job).error is None
    assert set(at_once) == {1}
    assert steps == list("abc") * 20


def test_only_so_many_jobs_are_begun(sliced: Held) -> None:
    names = [f"visitor {number}" for number in range(background.MAX_STARTED + 2)]
    jobs = [sliced.ask(name, name) for name in names]
    while len(sliced.begun) < background.MAX_STARTED:
        time.sleep(0.002)
    last = sliced.ask(names[-1], names[-1])
    assert sliced.begun == names[: background.MAX_STARTED]
    assert last.stage.startswith("Waiting: ")
    sliced.go_on.set()
    for job in jobs:
        wait_for(job)
    assert sliced.begun == names


def paused(name: str) -> bool:
    """Return whether a job that has begun waits for its turn."""
    with background._lock:
        return name in background._line and name in background._running


def test_a_paused_job_stops_when_it_is_left(monkeypatch: pytest.MonkeyPatch, held: Held) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def silent(progress: background.Progress) -> str:
        begun.set()
        go_on.wait(10)
        return "silent"

    monkeypatch.setattr(background, "SLICE", 0.0)
    left = held.ask("left", "a")
    held.wait_for_the_first()
    other = background.ask("silent", silent, "b")
    assert begun.wait(10)
    assert paused("left")
    assert held.ask("left", "a").stage == "Waiting: 1 before you"
    held.ask("left", "c")
    background.leave("left", "a")
    assert paused("left")  # another visitor waits for it
    background.leave("left", "c")
    assert isinstance(wait_for(left).error, background.GivenUp)
    assert not other.done
    go_on.set()
    assert wait_for(other).result == "silent"


def test_a_job_that_waits_for_what_a_paused_one_holds_gets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "SLICE", 0.0)
    monkeypatch.setattr(background, "LONGEST_SILENCE", 0.05)
    lock, holds, other_asked = threading.Lock(), threading.Event(), threading.Event()

    def holding(progress: background.Progress) -> str:
        with lock:
            holds.set()
            other_asked.wait(10)
            for step in range(20):
                progress(step / 20, "Holding")
        return "held"

    def wanting(progress: background.Progress) -> str:
        with lock:
            progress(0.5, "Got it")
        return "got"

    first = background.ask("holding", holding, "a")
    assert holds.wait(10)
    second = background.ask("wanting", wanting, "b")
    other_asked.set()
    assert wait_for(first).result == "held"
    assert wait_for(second).result == "got"
