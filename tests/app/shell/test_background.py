"""Jobs beside the page: one per key, watched, given up when nobody asks."""

import threading
import time

import pytest

from app.shell import background


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_jobs", type(background._jobs)())


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


def test_an_error_is_kept_for_whoever_asks() -> None:
    def work(progress: background.Progress) -> None:
        raise ValueError("too many points")

    job = wait_for(background.ask("bad", work))
    assert str(job.error) == "too many points"
    assert job.result is None


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
    assert list(background._jobs) == [3, 4, 5]


def test_others_have_a_moment_to_ask_for_a_job_that_was_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "PATIENCE", 100.0)
    go_on, stop = threading.Event(), threading.Event()

    def working(progress: background.Progress) -> None:
        while not stop.is_set():
            progress(0.5, "Working")
            go_on.set()
            time.sleep(0.001)

    job = background.ask("shared", working)
    background.leave("shared", grace=50.0)
    assert go_on.wait(10)  # it goes on though it was left
    asked_at = job.asked_at
    assert background.ask("shared", working).asked_at > asked_at  # and somebody still waits
    stop.set()
    assert wait_for(job).error is None
