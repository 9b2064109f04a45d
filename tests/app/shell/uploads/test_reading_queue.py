"""The queue in which visitors' files are read: who has had least comes first."""

import threading
import time

import pytest

from app.shell.uploads.reading_queue import AT_ONCE, AT_ONCE_LARGE, LARGE, ReadingQueue


class Readers:
    """Visitors whose files are read in threads, each until it is told to end."""

    def __init__(self) -> None:
        self.queue, self.begun = ReadingQueue(), list[str]()
        self._ends: dict[str, threading.Event] = {}
        self._threads: dict[str, threading.Thread] = {}

    def come(self, name: str, visitor: str = "", address: str = "", size: int = 0) -> None:
        """Let a file join the queue."""
        self._ends[name] = threading.Event()

        def read() -> None:
            with self.queue.turn(visitor or name, address or name, size):
                self.begun.append(name)
                self._ends[name].wait(60)

        self._threads[name] = threading.Thread(target=read, daemon=True)
        self._threads[name].start()
        time.sleep(0.05)

    def end(self, *names: str) -> None:
        """End the reading of files, one after the other."""
        for name in names:
            self._ends[name].set()
            self._threads[name].join(10)
            assert not self._threads[name].is_alive()
        time.sleep(0.6)


def test_a_few_are_read_at_once_in_their_order() -> None:
    readers = Readers()
    names = [f"visitor {number}" for number in range(AT_ONCE + 2)]
    for name in names:
        readers.come(name)
    assert readers.begun == names[:AT_ONCE]
    readers.end(*names)
    assert readers.begun == names


def test_who_has_had_none_comes_first() -> None:
    readers = Readers()
    for number in range(AT_ONCE):
        readers.come(f"mine {number}", visitor=f"me {number}")
    readers.come("again", visitor="me 0")
    readers.come("theirs")
    readers.end("mine 1")
    assert readers.begun[-1] == "theirs"
    readers.end("mine 0")
    assert readers.begun[-1] == "again"


def test_a_new_cookie_of_the_same_address_is_no_new_visitor() -> None:
    readers = Readers()
    for number in range(AT_ONCE):
        readers.come(f"mine {number}", address="intruder")
    readers.end("mine 0")
    readers.come("mine again", address="intruder")
    readers.come("mine too", address="intruder")
    readers.come("theirs")
    readers.end("mine 1")
    assert readers.begun[-1] == "theirs"


def test_a_visitor_has_one_turn_at_a_time() -> None:
    readers = Readers()
    readers.come("first", visitor="me")
    readers.come("second", visitor="me")
    readers.come("other")
    assert readers.begun == ["first", "other"]
    readers.end("first")
    assert readers.begun == ["first", "other", "second"]


def test_large_files_leave_a_turn_to_small_ones() -> None:
    readers = Readers()
    for number in range(AT_ONCE):
        readers.come(f"large {number}", size=LARGE)
    readers.come("small")
    assert readers.begun == [*(f"large {number}" for number in range(AT_ONCE_LARGE)), "small"]


def test_who_is_no_longer_awaited_leaves_the_queue() -> None:
    readers = Readers()
    for number in range(AT_ONCE):
        readers.come(f"visitor {number}")

    def leave() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError), readers.queue.turn("late", "there", 0, leave):
        pass
    readers.come("last")
    readers.end("visitor 0")
    assert readers.begun[-1] == "last"
