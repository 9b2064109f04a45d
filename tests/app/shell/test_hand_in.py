"""A finding is handed in from a picture, and downloaded as one file."""

from collections.abc import Callable, Iterator

import pytest
from streamlit.testing.v1 import AppTest

from app.access.class_store import ClassStore
from app.shell import hand_in
from app.shell.picture_files import Origin
from tests.app.access.test_class_store import FINDING, HOSTILE
from tests.support.opened import complaints, ok, said
from tests.support.school import school


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassStore]:
    with school(monkeypatch) as kept:
        yield kept


def _page() -> None:
    import streamlit as st

    from app.shell import hand_in
    from app.shell.picture_files import Origin

    origin = Origin("Attention", None, {}, {})
    hand_in.offer(st.container(horizontal=True), "lines", (origin, lambda of: b""))


def _form() -> None:
    from app.shell import hand_in, state
    from app.shell.picture_files import Origin

    origin = Origin("Attention", None, {}, {})
    hand_in._show("lines", (origin, lambda of: b""), state.link("attention"))


def opened(script: Callable[[], None] = _page) -> AppTest:
    """Return the button, or the form alone: AppTest runs no dialog again by itself."""
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update({"layer": "3", "text_a": "a&b (c)", "lesson": "x", "lesson_done": "r"})
    return ok(app.run())


def test_a_finding_reaches_the_class(kept: ClassStore) -> None:
    app = ok(opened().button(key="hand_in_lines").click().run())
    assert app.button(key="finding_hand_in")
    app = opened(_form)
    app.text_input(key="finding_name").set_value("Ada")
    app.text_input(key="finding_numbers_lines").set_value(" 0.62 [0.55, 0.69] ")
    app.button(key="finding_hand_in").click()
    assert "first sentence is empty" in complaints(app.run())
    app.text_input(key="finding_first_lines").set_value(HOSTILE)
    app.button(key="finding_hand_in").click()
    assert "Your class has it" in said(ok(app.run()))
    ((*_, finding),) = kept.findings()
    assert (finding.name, finding.page, finding.first) == ("Ada", "Attention", HOSTILE)
    assert finding.numbers == "0.62 [0.55, 0.69]"
    assert finding.link == "attention?layer=3&text_a=a%26b+%28c%29", "without the lesson"
    for _ in range(2):
        app.button(key="finding_hand_in").click().run()
    app.button(key="finding_hand_in").click()
    assert "within a minute" in complaints(app.run())
    assert len(kept.findings()) == 3


def test_without_a_class_nothing_is_offered() -> None:
    assert not opened().button


def test_the_file_has_the_finding_before_the_texts() -> None:
    made: list[Origin] = []
    of = Origin("Attention", None, {"Text A": "a"}, {})
    hand_in._file(of, lambda origin: made.append(origin) or b"", FINDING._replace(name=""), "http")
    assert list(made[0].texts) == ["Finding", "Numbers", "Link of the view", "Text A"]
    assert made[0].texts["Finding"] == "One.\nTwo."
