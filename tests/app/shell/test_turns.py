"""Turns: few runs at a time, in order, never stuck."""

import sys
import threading
import time

import pytest

from app.shell import turns


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_turns", threading.Semaphore(2))


def run_many(count: int) -> int:
    """Return the most threads that had a turn at the same time."""
    now, most, lock = 0, 0, threading.Lock()

    def run() -> None:
        nonlocal now, most
        with turns.turn():
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return most


def test_no_more_than_two_compute_at_once() -> None:
    assert run_many(12) == 2


def test_a_run_that_waits_or_fails_gives_its_turn_back() -> None:
    done = threading.Event()

    def wait() -> None:
        with turns.turn():
            turns.give_back()
            turns.give_back()  # a second time changes nothing
            done.wait()

    waiting = [threading.Thread(target=wait) for _ in range(5)]
    for thread in waiting:
        thread.start()
    with pytest.raises(ValueError, match="broken"), turns.turn():
        raise ValueError("broken")
    assert run_many(6) == 2
    done.set()
    for thread in waiting:
        thread.join()
    assert run_many(6) == 2


def test_long_runs_of_others_do_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def long() -> None:
        with turns.turn():
            done.wait()

    threads = [threading.Thread(target=long) for _ in range(2)]
    for thread in threads:
        thread.start()
    with monkeypatch.context() as patched:
        patched.setattr(turns, "LONGEST_SECONDS", 0.05)
        with turns.turn():  # goes on without a turn
            done.set()
    for thread in threads:
        thread.join()
    assert run_many(6) == 2  # and gave back none that it did not have


def test_work_beside_pages_lets_them_go_first_while_there_is_any() -> None:
    usual = sys.getswitchinterval()
    with turns.beside_pages():
        with turns.beside_pages():
            assert sys.getswitchinterval() == pytest.approx(turns.SHORT_SECONDS)
        assert sys.getswitchinterval() == pytest.approx(turns.SHORT_SECONDS)
    assert sys.getswitchinterval() == usual


def test_what_is_begun_ahead_runs_once_and_beside_the_pages() -> None:
    intervals: list[float] = []
    done = threading.Event()

    def work() -> None:
        intervals.append(sys.getswitchinterval())
        done.set()

    for _ in range(3):
        turns.begin_ahead(work)
    assert done.wait(10)
    assert intervals == [pytest.approx(turns.SHORT_SECONDS)]
