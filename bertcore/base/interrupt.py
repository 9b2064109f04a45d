"""Calls of libraries that Ctrl+C ends although they run no Python."""

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interruptible(call: Callable[[], T]) -> T:
    """Return `call()`; in the main thread, Ctrl+C raises KeyboardInterrupt at once.

    Python handles a signal between two of its own instructions, so a library that computes for a
    minute would hold it up. The call runs in a thread of its own, which is left behind then.

    Args:
        call: Releases the GIL while it computes.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised below, where it can be handled
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
