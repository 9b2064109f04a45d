"""Turns: few runs of pages compute at the same time, the others wait in order.

Python runs one thread at a time, and each operation of torch hands that right away and has to get
it back. A hundred runs at once take half as long again in all as a few at a time do, and all of
them end late.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

AT_ONCE = 3
"""Runs that compute at the same time; the speed is the same with 2."""
LONGEST_SECONDS = 10.0
"""A run waits no longer: others whose pages take long must not stop it."""

_turns = threading.Semaphore(AT_ONCE)
_held = threading.local()
"""Of each thread: whether it has a turn."""


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn and keep it within the block."""
    _held.has_turn = _turns.acquire(timeout=LONGEST_SECONDS)
    try:
        yield
    finally:
        give_back()


def give_back() -> None:
    """Let others have this run's turn: it is about to wait, and goes on without one afterwards."""
    if getattr(_held, "has_turn", False):
        _held.has_turn = False
        _turns.release()
