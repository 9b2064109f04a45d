"""Turns: few runs of pages compute at the same time, the others wait in order.

Python runs one thread at a time, and each operation of torch gives up the right to run and has to
get it back. A hundred runs at once take half as long again in total as a few at a time, and all of
them end late.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AT_ONCE = 3
"""Runs that compute at the same time; the speed is the same with 2."""
LONGEST_SECONDS = 10.0
"""Longest wait for a turn: slow pages of others must not block a run."""

SHORT_SECONDS = 1e-4
"""After which work beside the pages lets a page run Python. An edit asks for that a thousand times,
after each operation of torch: with Python's 5 ms it took 5 s beside a job that read a table, now
0.1 to 0.2. A full class without such work is slower with short ones, by a sixth."""

_turns = threading.Semaphore(AT_ONCE)
_held = threading.local()
"""For each thread, whether it has a turn."""


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn and keep it within the block."""
    _held.has_turn = _turns.acquire(timeout=LONGEST_SECONDS)
    try:
        yield
    finally:
        give_back()


def give_back() -> None:
    """Give this run's turn to others: it is about to wait, and continues without one afterwards."""
    if getattr(_held, "has_turn", False):
        _held.has_turn = False
        _turns.release()


_USUAL_SECONDS = sys.getswitchinterval()
_lock = threading.Lock()
_num_beside = 0


@contextmanager
def beside_pages() -> Iterator[None]:
    """Let others run Python at short notice within the block, which takes long and is no edit."""
    global _num_beside
    with _lock:
        _num_beside += 1
        sys.setswitchinterval(SHORT_SECONDS)
    try:
        yield
    finally:
        with _lock:
            _num_beside -= 1
            if not _num_beside:
                sys.setswitchinterval(_USUAL_SECONDS)


_begun: set[Callable[[], None]] = set()


def begin_ahead(work: Callable[[], None]) -> None:
    """Begin in the background what a page that is likely next would wait for; once in a server."""
    if work in _begun:
        return
    _begun.add(work)

    def run() -> None:
        with beside_pages():
            work()

    threading.Thread(target=run, name="bertscope-ahead", daemon=True).start()
