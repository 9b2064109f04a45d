"""The end of a session after its connection, and of the memory that visitors used."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from app.server import sessions
from app.server import streamlit_internals as internals
from tests.support.asgi import run


class Runtime:
    """What is asked of Streamlit's: the sessions that are connected, and those that were closed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.active: set[str] = set()
        self.closed: list[str] = []
        self.without_files: list[str] = []
        self.uploaded_file_mgr = MemoryUploadedFileManager("/upload")
        monkeypatch.setattr(
            self.uploaded_file_mgr, "remove_session_files", self.without_files.append
        )

    @property
    def _session_mgr(self) -> Runtime:
        return self

    def get_session_info(self, session: str) -> None:
        """Nothing is kept of a session."""

    def is_active_session(self, session: str) -> bool:
        return session in self.active

    def close_session(self, session: str) -> None:
        self.closed.append(session)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    runtime = Runtime(monkeypatch)
    monkeypatch.setattr(internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(internals.runtime, "get_instance", lambda: runtime)
    monkeypatch.setattr(sessions.st, "get_option", {"server.disconnectedSessionTTL": 1}.get)
    return runtime


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A name of the thread for each time that memory is released."""
    threads: list[str] = []
    monkeypatch.setattr(sessions, "RELEASE_SECONDS", 0.3)
    monkeypatch.setattr(
        sessions, "release", lambda: threads.append(threading.current_thread().name)
    )
    return threads


async def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


def wait_for_release() -> None:
    timer = sessions._releasing
    if timer is not None:
        timer.join()


def test_a_session_whose_browser_does_not_come_back_is_closed(
    runtime: Runtime, released: list[str]
) -> None:
    async def leave() -> None:
        for name in ("gone", "back", "also gone"):
            sessions.close_later(name)
        await until(lambda: "also gone" in runtime.without_files)

    runtime.active = {"back"}
    run(leave())
    wait_for_release()
    assert runtime.closed == runtime.without_files == ["gone", "also gone"]
    assert len(released) == 1  # once for both


def test_a_session_that_only_sends_files_is_closed_when_it_is_gone(
    runtime: Runtime, released: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "WATCH_SECONDS", 0.02)

    async def send() -> None:
        for _ in range(3):
            sessions.watch("sender")
        await asyncio.sleep(0.1)  # asked several times by then
        assert runtime.closed == []
        runtime.active.clear()
        await until(lambda: runtime.without_files)

    runtime.active = {"sender"}
    run(send())
    wait_for_release()
    assert runtime.without_files == ["sender"]
    assert "sender" not in sessions._watched


def test_memory_is_released_in_another_thread_and_again(released: list[str]) -> None:
    for number in (1, 2):
        for _ in range(5):
            sessions.release_soon()
        wait_for_release()
        assert len(released) == number
    assert threading.current_thread().name not in released


def test_a_session_that_is_garbage_closes_itself(runtime: Runtime, released: list[str]) -> None:
    sessions.close_later("garbage")  # outside of the server's loop
    assert runtime.closed == released == []
