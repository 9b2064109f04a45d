"""Texts that are odd, empty or too long, given to every page over its websocket."""

import re
from collections.abc import Iterator

import pytest

from app.navigation import PAGES
from tests.support.browser.hostile import LONG, MARKUP, NOT_SEEN, SCRIPT, SIGNS
from tests.support.browser.running import Running, running_app
from tests.support.session import Session
from tests.support.tiny import tiny_bert

LIMIT = re.compile(r"602 tokens but the limit is \d+\\, so the last \d+ tokens of text A")
EMPTY = "Sentence A is empty. Type a sentence above, or pick an example."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tiny_bert().save(tmp_path_factory.mktemp("saved") / "tiny")
    with running_app(folder) as running:
        yield running


PAIRS = ((SCRIPT, MARKUP), (SIGNS, SIGNS), ("river", ""))


@pytest.mark.parametrize("name", [page.name for page in PAGES.values() if page.needs_text])
@pytest.mark.parametrize(
    ("pairs", "blanks"),
    [(PAIRS[:1], ("",)), pytest.param(PAIRS, ("", " \n\t "), marks=pytest.mark.exhaustive)],
    ids=["one pair", "all"],
)
def test_a_page_answers_each(
    server: Running, name: str, pairs: tuple[tuple[str, str], ...], blanks: tuple[str, ...]
) -> None:
    with Session(server.url) as session:
        last = ""

        def said(text_a: str, text_b: str, pattern: str | re.Pattern[str]) -> bool:
            nonlocal last
            if text_b != last:
                session.set("text_b", text_b)
                last = text_b
            session.set("text_a", text_a)
            assert session.errors == []
            return any(re.search(pattern, text) for text in session.page_texts)

        session.open(name)
        session.set("text_b", last)
        for text_a, text_b in pairs:
            assert not said(text_a, text_b, EMPTY)
        assert said(NOT_SEEN, "", "Nothing in this text is a word to the model")
        for blank in blanks:
            assert said(blank, "", EMPTY)
        assert said(LONG, "", LIMIT)
        assert not said("river", "the bank", LIMIT)
