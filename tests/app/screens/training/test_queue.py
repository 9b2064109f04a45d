"""Learners who wait to train: places in order, kept while a page is open, and started in turn."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from app.server import policy, training, visits
from app.sources.run_folders import process, queue
from app.sources.run_folders.runs import NoRoomError, check_room
from tests.support.closed import closed
from tests.support.opened import complaints, ok, said


@pytest.fixture(autouse=True)
def learner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[visits.Visit]]:
    """One of several learners, who is the visitor: the first of the list."""
    class_of = {policy.CLASS: "NLP", policy.CLASS_KEY: "four words of a key"}
    with closed(monkeypatch, **{policy.ALLOW_TRAINING: "2", **class_of}):
        folders = [tmp_path / name for name in "abc"]
        for folder in folders:
            folder.mkdir()
        here = [visits.Visit(folder) for folder in folders]
        monkeypatch.setattr(visits, "current", lambda: here[0])
        yield here
    for name in [*queue._seen]:
        queue._forget(name)


def test_places_are_in_the_order_of_asking(
    learner: list[visits.Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "num_alive", lambda: process.MAX_RUNNING)
    now = 0.0
    monkeypatch.setattr(queue.time, "monotonic", lambda: now)
    for number in range(3):
        queue.join()
        assert queue.ahead() == number
        learner.append(learner.pop(0))
    monkeypatch.setattr(process, "num_alive", lambda: process.MAX_RUNNING - 1)
    assert queue.is_next()
    learner.append(learner.pop(0))
    assert not queue.is_next(), "one place is free, and another learner waits before"
    with pytest.raises(NoRoomError, match="1 more are waited for"):
        check_room([])
    now = 15.0
    queue.join()
    now = 30.0
    assert queue.ahead() == 0, "the first closed the page"
    queue.leave()
    assert not queue.waits()


def test_many_cookies_of_one_network_wait_for_the_visitor_of_another(
    learner: list[visits.Visit], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process, "num_alive", lambda: process.MAX_RUNNING)
    context = SimpleNamespace(ip_address="192.0.2.7")
    monkeypatch.setattr(queue, "st", SimpleNamespace(context=context))
    for number in range(20):
        learner[0] = visits.Visit(tmp_path / f"flood-{number}")
        queue.join()
    context.ip_address = "198.51.100.9"
    learner[0] = pupil = visits.Visit(tmp_path / "pupil")
    queue.join()
    assert queue.ahead() == 1
    learner[0] = visits.Visit(tmp_path / "flood-0")
    queue.leave()  # its run starts
    learner[0] = pupil
    assert queue.ahead() == 0, "not behind the next of the same network"


def test_an_open_server_has_no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "limits", lambda: None)
    assert (queue.ahead(), queue.waits()) == (0, False)
    queue.leave()


def _form(folder: str) -> None:
    from pathlib import Path

    import streamlit as st

    from app.screens.training.new_run import start_or_wait
    from app.sources.run_folders.runs import check_room

    def start() -> Path:
        check_room([])
        if st.session_state.get("fails"):
            raise ValueError("no text was uploaded.")
        st.session_state["began"] = True
        return Path(folder) / "run-1"

    start_or_wait("pretrain", Path(folder), st.button("Start", key="start"), start)


def test_a_run_waits_and_starts_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = process.MAX_RUNNING
    monkeypatch.setattr(process, "num_alive", lambda: alive)
    app = AppTest.from_function(_form, args=(str(tmp_path),), default_timeout=60)
    app.run().button(key="start").click()
    shown = said(ok(app.run()))
    assert "Place 1 in the queue. 2 runs work now, at most 2 minutes each." in shown
    assert "began" not in app.session_state
    alive = 0
    ok(app.run())
    assert app.session_state["began"]
    assert not queue.waits()
    assert "Place" not in said(app)


def test_a_run_that_cannot_start_gives_its_place_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = AppTest.from_function(_form, args=(str(tmp_path),), default_timeout=60)
    app.session_state["fails"] = True
    app.run().button(key="start").click()
    queue.join()
    assert "no text was uploaded" in complaints(app.run()).lower()
    assert not queue.waits()
