"""The queue in which visitors' files are read, each in a process of its own.

Whoever has had none comes first: by visitor, and by address, since a visitor is a cookie, which
costs nothing. A file of a size that reads in a moment never waits for large ones alone.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

AT_ONCE = 3
"""Files that are read at the same time."""
AT_ONCE_LARGE = 2
"""Those of them that are large."""
LARGE = 1_000_000
"""Bytes from which a file is large."""
REMEMBERED_SECONDS = 600.0
_LOOK_SECONDS = 0.25


class Reader(NamedTuple):
    """Whose file is read; compared as the object that it is."""

    visitor: str
    address: str
    is_large: bool


class ReadingQueue:
    """Gives turns to read; a visitor has one at a time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[Reader] = []
        self._reading: list[Reader] = []
        self._had: deque[tuple[float, Reader, float]] = deque()
        """When a reading ended, whose it was, and its seconds."""

    @contextmanager
    def turn(
        self,
        visitor: str,
        address: str,
        num_bytes: int,
        on_wait: Callable[[], object] = lambda: None,
    ) -> Iterator[None]:
        """Wait for a turn and keep it within the block.

        Args:
            visitor: Whose file it is.
            address: Where the visitor is.
            num_bytes: Size of the file.
            on_wait: Called a few times a second while it waits; may raise to leave the queue.
        """
        own = Reader(visitor, address, num_bytes >= LARGE)
        with self._changed:
            self._waiting.append(own)
        try:
            while not self._begin(own):
                on_wait()
        finally:
            with self._changed:
                self._waiting = [each for each in self._waiting if each is not own]
        began = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            with self._changed:
                self._reading = [each for each in self._reading if each is not own]
                self._had.append((now, own, now - began))
                self._changed.notify_all()

    def _begin(self, own: Reader) -> bool:
        """Return whether it is this reader's turn, after some time if it is not."""
        with self._changed:
            if self._next() is not own:
                self._changed.wait(_LOOK_SECONDS)
            if self._next() is not own:
                return False
            self._waiting = [each for each in self._waiting if each is not own]
            self._reading.append(own)
            self._changed.notify_all()
            return True

    def _next(self) -> Reader | None:
        while self._had and time.monotonic() - self._had[0][0] > REMEMBERED_SECONDS:
            self._had.popleft()
        busy = {each.visitor for each in self._reading}
        num_large = sum(each.is_large for each in self._reading)
        may = [
            each
            for each in self._waiting
            if each.visitor not in busy and (not each.is_large or num_large < AT_ONCE_LARGE)
        ]
        if len(self._reading) >= AT_ONCE or not may:
            return None
        return min(may, key=self._seconds_had)  # of equals the one that has waited longest

    def _seconds_had(self, reader: Reader) -> tuple[float, float]:
        """Return the seconds that were read lately for a visitor, and for an address."""
        of_visitor = sum(seconds for _, r, seconds in self._had if r.visitor == reader.visitor)
        of_address = sum(seconds for _, r, seconds in self._had if r.address == reader.address)
        return of_visitor, of_address


QUEUE = ReadingQueue()
