"""A class on this process's server, for pages that run without one."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.server import class_store, cookies, learners
from app.server import policy as policies
from app.server.class_store import ClassStore
from tests.support.closed import closed

TEACHER = "the teacher's key"


@contextmanager
def school(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Iterator[ClassStore]:
    """Give this process's closed server a class inside the block; nothing of it is left after."""
    given = {policies.CLASS: "NLP", policies.CLASS_KEY: TEACHER, **environ}
    try:
        with closed(monkeypatch, **given):
            monkeypatch.setattr(cookies, "visit_of", lambda _: None)  # AppTest has none
            monkeypatch.setattr(learners, "_wrong", copy.deepcopy(learners._wrong))
            class_store.store.cache_clear()
            kept = class_store.store()
            assert kept is not None
            yield kept
    finally:
        class_store.store.cache_clear()
        learners._teachers.clear()
