"""The door in the first page of the server, asked as an ASGI server asks."""

import re
from pathlib import Path

import pytest
import streamlit
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp

from app.server import first_paint
from app.server.first_paint import FirstPaint, with_door
from app.server.gate import Gate
from app.server.policy import CHECKPOINT_VARIABLE
from tests.support.asgi import ask

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
DOOR = "first-door"


@pytest.fixture
def app() -> ASGIApp:
    return FirstPaint(HTMLResponse(INDEX.read_text(), headers={"etag": "a"}))


@pytest.mark.parametrize(
    ("path", "method", "has_door"),
    [
        ("/", "GET", True),
        ("/?text_a=The+river.", "GET", False),
        ("/?door=1", "GET", False),
        ("/glance", "GET", False),
        ("/x/", "GET", False),
        ("/", "HEAD", False),
        ("/", "POST", False),
    ],
)
def test_it_is_in_the_page_at_the_apps_own_address(
    app: ASGIApp, path: str, method: str, has_door: bool
) -> None:
    answer = ask(app, method, path)
    assert answer.status == 200
    assert (DOOR in answer.body) == has_door
    assert ("etag" in answer.headers) == (method != "GET"), "of another page"
    if method == "GET":
        assert answer.headers["content-length"] == str(len(answer.body.encode()))


@pytest.mark.parametrize(("accept", "is_added"), [("text/html,*/*;q=0.8", True), ("*/*", False)])
def test_every_page_that_a_browser_shows_leaves_its_choices_out_of_the_history(
    app: ASGIApp, accept: str, is_added: bool
) -> None:
    answer = ask(app, path="/glance?step=2", accept=accept)
    assert (answer.body.count(first_paint.HISTORY) == 1) == is_added
    assert DOOR not in answer.body


def test_it_is_below_a_base_path(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_paint, "base_path", lambda: "lab/bert")
    for path in ("/lab/bert/", "/lab/bert", "/"):  # a proxy may have taken the prefix away
        assert DOOR in ask(app, path=path).body
    assert DOOR not in ask(app, path="/lab").body


@pytest.mark.parametrize(
    "inner", [PlainTextResponse("<html></html>"), HTMLResponse("<html></html>", 404)]
)
def test_other_answers_are_passed_on(inner: ASGIApp) -> None:
    assert ask(FirstPaint(inner)).body == "<html></html>"


def test_who_has_no_key_sees_no_door(app: ASGIApp) -> None:
    answer = ask(Gate(app, key="the river bank"))
    assert answer.status == 401
    assert DOOR not in answer.body


def test_it_stands_before_the_app_with_the_apps_font_and_colours() -> None:
    page = with_door(INDEX.read_text())
    assert page.count("</script>") == INDEX.read_text().count("</script>") + 1
    assert page.index(DOOR) < page.index('<div id="root">')
    (font,) = re.findall(r'src: url\("\./static/media/(.+?)"\)', page)
    assert (INDEX.parent / "static" / "media" / font).is_file()
    assert re.search(r"--st-text-color: light-dark\(#\w+, #\w+\);", page)


@pytest.mark.parametrize(("source", "has_guesses"), [("default", True), ("/mine", False)])
def test_stored_guesses_are_shown_of_the_checkpoint_that_opens_first(
    source: str, has_guesses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_VARIABLE, source)
    first_paint.script.cache_clear()
    try:
        told = first_paint.script()
    finally:
        first_paint.script.cache_clear()
    assert ("window" in told.partition("bundle.drawFirst")[2]) == has_guesses
    assert ("9 million" in told) == has_guesses
