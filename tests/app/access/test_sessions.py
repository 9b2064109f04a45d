"""The end of a session after its connection, and of the memory that visitors used."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from app.access import sessions


class Runtime:
    """What is asked of Streamlit's: the sessions that are connected, and those that were closed."""

    def __init__(self) -> None:
        self.active: set[str] = set()
        self.closed: list[str] = []

    def is_active_session(self, session: str) -> bool:
        return session in self.active

    def close_session(self, session: str) -> None:
        self.closed.append(session)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Runtime:
    runtime = Runtime()
    streamlit = SimpleNamespace(exists=lambda: True, get_instance=lambda: runtime)
    monkeypatch.setattr(sessions, "runtime", streamlit)
    monkeypatch.setattr(sessions.config, "get_option", {"server.disconnectedSessionTTL": 1}.get)
    return runtime


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A name of the thread for each time that memory is released."""
    threads: list[str] = []
    monkeypatch.setattr(sessions, "RELEASE_SECONDS", 0.05)
    monkeypatch.setattr(
        sessions, "release", lambda: threads.append(threading.current_thread().name)
    )
    return threads


def leave(*names: str) -> None:
    async def end() -> None:
        for name in names:
            sessions._left(name)
        await asyncio.sleep(0.05)

    asyncio.run(end())


def wait_for_release() -> None:
    timer = sessions._releasing
    if timer is not None:
        timer.join()


def test_a_session_whose_browser_does_not_come_back_is_closed(
    runtime: Runtime, released: list[str]
) -> None:
    runtime.active = {"back"}
    leave("gone", "back", "also gone")
    wait_for_release()
    assert runtime.closed == ["gone", "also gone"]
    assert len(released) == 1  # once for both


def test_memory_is_released_in_another_thread_and_again(released: list[str]) -> None:
    for number in (1, 2):
        for _ in range(5):
            sessions.release_soon()
        wait_for_release()
        assert len(released) == number
    assert threading.current_thread().name not in released


def test_a_session_that_is_garbage_closes_itself(runtime: Runtime, released: list[str]) -> None:
    sessions._left("garbage")  # outside of the server's loop
    assert runtime.closed == released == []
