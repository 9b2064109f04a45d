"""The special words: explained in three languages, and found where they stand in texts."""

import re
from html.parser import HTMLParser

import pytest

from app.shell.words import glossary
from app.shell.words.language import languages

CODES = [*languages()]
MOST_WORDS, MOST_SIGNS = 30, 62
"""Of an explanation in words, or in Chinese in signs."""


@pytest.mark.parametrize("code", CODES)
def test_each_word_has_a_short_meaning_and_is_found_as_it_is_written(code: str) -> None:
    words = glossary.glossary(code)
    assert [*words] == [*glossary.glossary("en")]
    assert len({entry.word for entry in words.values()}) == len(words)
    for name, (word, meaning, forms) in words.items():
        length = len(meaning) if code == "zh" else len(meaning.split())
        assert 5 < length <= (MOST_SIGNS if code == "zh" else MOST_WORDS), name
        assert meaning.endswith(("。", "？") if code == "zh" else (".", "?")), name
        found = forms.search(f"x {word}, x")
        assert found is not None, name
        if code != "en":
            assert meaning != glossary.glossary("en")[name].meaning, name


def test_the_hidden_states_are_counted_as_in_the_code() -> None:
    for code in CODES:
        assert "hidden_states[k + 1]" in glossary.glossary(code)["hidden-state"].meaning


def test_a_word_is_explained_once_and_the_longest_is_taken() -> None:
    text = "A special token, a token, and a token."
    parts = [*glossary.parts(text)]
    assert "".join(part for part, _ in parts) == text
    assert [part for part, meaning in parts if meaning] == ["special token", "token"]


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        ("ru", "Внимание голов к токенам", ["Внимание", "голов", "токенам"]),
        ("zh", "每个注意力头看哪些词元", ["注意力头", "词元"]),
        ("en", "\\[CLS\\] monkeys", ["\\[CLS\\]"]),
    ],
)
def test_a_word_is_found_in_its_forms(
    code: str, text: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glossary, "language", lambda: code)
    assert [part for part, meaning in glossary.parts(text) if meaning] == found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opens: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.opens += [given["popovertarget"] or ""] if tag == "button" else []
        self.ids += [given["id"] or ""] if "popover" in given else []


def test_each_button_opens_its_own_meaning_and_texts_are_escaped() -> None:
    given = "tokens &amp; <b>layers</b>, heads, <code>layer</code>, tokens, weights"
    html = glossary.explained(given, "here", "What each head does")
    assert re.sub("<button.*?>|</button>|<span.*?</span>", "", html) == given
    reader = _Reader()
    reader.feed(html)
    assert reader.opens == reader.ids
    assert len({*reader.ids}) == 3, "heads are explained elsewhere, a token once"
