"""Callbacks of components, figures and tables: what they pass on, and what they ignore."""

from typing import Any

import pytest

from app.parts.component import clicked_point, clicked_row, hear


@pytest.mark.parametrize(
    ("read", "state", "heard"),
    [
        (clicked_point, {"selection": {"points": [{"customdata": "1.2"}, {}]}}, ["1.2"]),
        (clicked_point, {"selection": {"points": []}}, []),
        (clicked_point, {"selection": {"points": [{"x": 1}]}}, []),
        (clicked_point, {"selection": {"points": {"a": 1}}}, []),
        (clicked_point, {"selection": []}, []),
        (clicked_row, {"selection": {"rows": [0, 3]}}, [0]),
        (clicked_row, {"selection": {"rows": []}}, []),
        (clicked_row, {}, []),
        (clicked_row, None, []),  # its page was left
    ],
)
def test_what_is_clicked_is_heard(
    read: Any, state: Any, heard: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {} if state is None else {"figure": state}
    monkeypatch.setattr("streamlit.session_state", kept)
    listened: list[Any] = []
    hear("figure", read, listened.append)()
    assert listened == heard


def test_what_a_listener_cannot_read_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.session_state", {"table": {"selection": {"rows": [7]}}})
    listened: list[str] = []
    hear("table", clicked_row, lambda row: listened.append("ab"[row]))()
    assert not listened
