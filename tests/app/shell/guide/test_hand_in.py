"""A finding is handed in from a picture."""

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from app.server.class_store import ClassStore
from tests.app.server.test_class_store import HOSTILE
from tests.support.opened import complaints, ok, said
from tests.support.school import school


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassStore]:
    with school(monkeypatch) as kept:
        yield kept


def _page() -> None:
    import streamlit as st

    from app.shell.guide import hand_in

    hand_in.offer(st.container(horizontal=True), "lines")


def _form() -> None:
    from app.shell import state
    from app.shell.guide import hand_in

    hand_in._show("lines", "Attention", state.link("attention"))


def opened(script: Callable[[], None] = _page) -> AppTest:
    """Return the button, or the form alone: AppTest runs no dialog again by itself."""
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update({"layer": "3", "text_a": "a&b (c)", "lesson": "x", "lesson_done": "r"})
    return ok(app.run())


def test_a_finding_reaches_the_class(kept: ClassStore) -> None:
    app = ok(opened().button(key="hand_in_lines").click().run())
    assert app.button(key="class_begin")
    app = opened(_form)
    app.text_input(key="class_learner_name").set_value("Ada")
    ok(app.button(key="class_begin").click().run())
    app.button(key="finding_hand_in").click()
    assert "finding is empty" in complaints(app.run())
    app.text_area(key="finding_lines").set_value(HOSTILE)
    for _ in range(2):
        app.button(key="finding_hand_in").click()
        assert "Your class has it" in said(ok(app.run()))
    (finding,) = kept.findings()
    assert (finding.name, finding.page, finding.text) == ("Ada", "Attention", HOSTILE)
    assert finding.link == "attention?layer=3&text_a=a%26b+%28c%29", "without the lesson"


def test_without_a_class_nothing_is_offered() -> None:
    assert not opened().button
