"""The queue of visitors who wait to train: one place each, in the order in which they asked.

Networks have turns, since a visitor is a cookie, which costs nothing. Each server of several has
its own queue, as it has its own runs. A place is lost when the visitor's page no longer asks for
it.
"""

import threading
import time

import streamlit as st

from ...server import training, visits
from ...server.gate import network_of
from ...shell.jobs.line import Line
from . import process

PATIENCE_SECONDS = 20.0
_seen: dict[str, float] = {}
"""When the page of each visit last asked."""
_places: Line[str] = Line()
"""Of visits, by network."""
_lock = threading.Lock()


def join() -> None:
    """Take the last place of one's network, or keep the one that the visitor has."""
    with _lock:
        _forget_absent()
        visit = _visit()
        if visit not in _seen:
            _places.join(network_of(st.context.ip_address or ""), visit)
        _seen[visit] = time.monotonic()


def leave() -> None:
    """Give the visitor's place up, if there is one; the first of a network ends its turn."""
    if training.limits() is not None:
        with _lock:
            visit = _visit()
            _places.take(lambda first: first == visit)
            _forget(visit)


def waits() -> bool:
    """Return whether the visitor has a place."""
    if training.limits() is None:
        return False
    with _lock:
        _forget_absent()
        return _visit() in _seen


def ahead() -> int:
    """Return how many wait before the visitor, who may have no place yet; 0 on an open server."""
    if training.limits() is None:
        return 0
    with _lock:
        _forget_absent()
        places = _places.order()
        return places.index(_visit()) if _visit() in _seen else len(places)


def is_next() -> bool:
    """Return whether there is room for the visitor and for all who wait before."""
    return process.num_alive() + ahead() < process.MAX_RUNNING


def _visit() -> str:
    return visits.current().folder.name


def _forget_absent() -> None:
    now = time.monotonic()
    for visit in [one for one, seen in _seen.items() if now - seen > PATIENCE_SECONDS]:
        _forget(visit)


def _forget(visit: str) -> None:
    _seen.pop(visit, None)
    _places.drop(visit)
