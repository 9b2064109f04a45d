"""Long texts over the real server: what is read is bounded, the page says so, others are served."""

import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.navigation import PAGES
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS
from tests.support.browser.running import Running, running_app
from tests.support.exhaustive import all_but
from tests.support.session import Session

pytestmark = pytest.mark.slow

NUM_CHARACTERS = 199_000
UNITS = {
    "words": "The fisherman sat on the bank of the river. ",
    "no space": "我爱学习",
    "emoji": "👩\u200d👩\u200d👧\u200d👦",
    "marks": "a" + "\u0301" * 20_000,
    "newlines": "\n" * 100_000 + "x",
    "dots": ".",
    "one word": "q",
}
PAGES_WITH_TEXT = [page.name for page in PAGES.values() if page.needs_text]
CASES = [(page, "no space") for page in PAGES_WITH_TEXT] + [("tokens", unit) for unit in UNITS]
SAID = f"characters: the first {MOST_CHARACTERS:,} are read"
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture(scope="module", params=all_but(["closed"], ["closed", "open"]))
def server(request: pytest.FixtureRequest) -> Iterator[Running]:
    arguments = ["--address", "0.0.0.0"] if request.param == "closed" else []
    with running_app(arguments=arguments) as running:
        yield running


@contextmanager
def others_served(server: Running, *, within: float) -> Iterator[None]:
    """Make sure that the server answers somebody else within some seconds all the time."""
    done, longest = threading.Event(), [0.0]

    def ask() -> None:
        while not done.wait(0.02):
            start = time.perf_counter()
            _direct.open(f"{server.url}/_stcore/health", timeout=60).read()
            longest.append(time.perf_counter() - start)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
    assert max(longest) < within


def text_of(unit: str) -> str:
    return (UNITS[unit] * (NUM_CHARACTERS // len(UNITS[unit]) + 1))[:NUM_CHARACTERS]


@pytest.mark.parametrize(
    ("page", "unit"), all_but([("tokens", "no space"), ("layer-map", "no space")], CASES)
)
def test_a_long_text_holds_nobody_else_up(server: Running, page: str, unit: str) -> None:
    text = text_of(unit)
    with Session(server.url) as visitor:
        visitor.open(page)
        with others_served(server, within=2):
            visitor.set("text_a", text)
            visitor.set("text_b", text + "!")
        assert any(SAID in said for said in visitor.texts)
        assert visitor.errors == []
        visitor.set("text_a", "The river.")
        visitor.set("text_b", "")
        assert not any(SAID in said for said in visitor.texts)
        assert visitor.errors == []


@pytest.mark.parametrize("text", ["%ED%A0%80%20river", "%D8%00 river", "a%00b", "%FF%FE"])
def test_a_link_with_half_a_character_opens(server: Running, text: str) -> None:
    with Session(server.url) as visitor:
        visitor.open("tokens", f"text_a={text}")
        assert visitor.errors == []


def test_a_link_with_a_long_text_is_cut(server: Running) -> None:
    with Session(server.url) as visitor:
        visitor.open("tokens", urllib.parse.urlencode({"text_a": text_of("words")}))
        assert any(f"{NUM_CHARACTERS:,} {SAID}" in said for said in visitor.texts)
        assert visitor.errors == []
        assert len(visitor.query) < 100


def test_a_list_of_sentences_takes_what_it_says(server: Running) -> None:
    lines = "\n".join(f"Sentence {number} {'of the river ' * 20}" for number in range(500))
    with Session(server.url) as visitor:
        visitor.open("heads", "heads_sentences=pasted&heads_source=pasted")
        visitor.set("my_sentences", lines)
        assert not any(SAID in said for said in visitor.texts)
