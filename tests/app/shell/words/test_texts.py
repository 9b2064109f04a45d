"""The app's texts in other languages: whole, of use, and where the browser asks for them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.navigation import GROUPS, PAGES, QUESTIONS
from app.plots import plain
from app.shell.sentence_box import EXAMPLES, REVIEW
from app.shell.words import language
from app.view import all_views, views_of
from tests.support.opened import charts, lessons_with_languages, ok, page_of, said

ROOT = Path(__file__).resolve().parents[4]
TEXTS = language._texts()
BROWSER, FIGURES = language._texts("browser"), language._texts("figures")
CODES = sorted(TEXTS)
WORD = re.compile("[A-Za-z]{2,}")
FACT = re.compile(r"\{[^}]*\}|`[^`]*`|\[[A-Z]+\]|\*\*")
"""What a translation keeps: facts, code, special tokens, and what is bold."""


@cache
def _strings() -> frozenset[str]:
    """Return all texts in the source, those of a view line by line too."""
    trees = (
        ast.parse(path.read_text(encoding="utf-8"))
        for folder in ("app", "bertcore")
        for path in (ROOT / folder).rglob("*.py")
    )
    nodes = (node for tree in trees for node in ast.walk(tree))
    texts = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    lines = {text.split("\n\n")[0] for text in texts}
    lines |= {view.how.split("\n\n")[0] for view in all_views().values()}
    return frozenset(texts) | frozenset(lines)


def test_each_language_has_the_same_texts() -> None:
    first, *others = CODES
    for texts in (TEXTS, BROWSER, FIGURES):
        for other in others:
            assert [*texts[other]] == [*texts[first]]


def test_each_text_of_figures_is_of_use_and_keeps_its_facts() -> None:
    source = " ".join(_strings())
    for code, texts in FIGURES.items():
        for text, own in texts.items():
            assert sorted(FACT.findall(own)) == sorted(FACT.findall(text)), (code, text)
            assert all(word in source for word in WORD.findall(FACT.sub("", text))), text


def test_each_text_of_the_browser_is_of_use() -> None:
    files = [*(ROOT / "app").rglob("*.ts"), *(ROOT / "app" / "parts").rglob("*.py")]
    files.append(ROOT / "bertcore" / "model" / "tokenizer" / "characters.py")
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    assert not [text for text in BROWSER["ru"] if f'"{text}"' not in source]


@pytest.mark.parametrize("code", CODES)
def test_each_text_is_of_use_and_keeps_facts_and_tokens(code: str) -> None:
    dead = [text for text in TEXTS[code] if text not in _strings()]
    assert not dead
    for text, own in TEXTS[code].items():
        assert sorted(FACT.findall(own)) == sorted(FACT.findall(text)), text
        assert own.strip(), text


def test_menu_titles_purposes_and_questions_are_translated() -> None:
    texts = [text for page in PAGES.values() for text in (page.title, page.purpose)]
    texts += [*filter(None, GROUPS), *QUESTIONS.values()]
    texts += [view.question for folder in GROUPS[""] for view in views_of(folder).values()]
    for code in CODES:
        assert not [text for text in texts if text != "BertScope" and text not in TEXTS[code]]


def _opened(page: str, locale: str, **query: str) -> str:
    app = page_of(page, **query)
    app.context = {"locale": locale}
    return said(ok(app.run()))


def test_the_browser_chooses_unless_the_visitor_did() -> None:
    own = TEXTS["ru"]["Lessons"]
    app = lessons_with_languages()
    app.context = {"locale": "ru-RU"}
    assert ok(app.run()).title[0].value == own
    assert "lesson_language" not in app.query_params, "another browser chooses for itself"
    app.segmented_control[0].set_value("en").run()
    assert ok(app).title[0].value == "Lessons"
    assert "".join(app.query_params["lesson_language"]) == "en"
    other = page_of("lessons", lesson_language="zh")
    other.context = {"locale": "ru-RU"}
    assert ok(other.run()).title[0].value == TEXTS["zh"]["Lessons"]
    unknown = page_of("lessons")
    unknown.context = {"locale": "de-DE"}
    assert ok(unknown.run()).title[0].value == "Lessons"


def test_a_page_without_a_translation_tells_so_once() -> None:
    own = TEXTS["ru"][language.IN_ENGLISH]
    app = page_of("papers")
    app.context = {"locale": "ru"}
    assert said(ok(app.run())).count(own) == 1
    assert said(ok(app.run())).count(own) == 1, "it stays while the page does"
    app.session_state[language._NOTED] = "heads"
    assert own not in said(ok(app.run()))
    assert own not in _opened("lessons", "ru")
    assert language.IN_ENGLISH not in _opened("papers", "en")


ENGLISH = re.compile(
    r"\b(the|of|is|are|and|since|with|which|that|what|how|here|each)\b", re.IGNORECASE
)
REST = re.compile(r"</summary>.*?</details>|<[^>]*>", re.DOTALL)
"""What follows the first line of how to read a picture, which is English, and tags."""
LINK = re.compile(r"(?<=\])\(.*?\)")
ENGLISH_NOTE = re.compile(r"\*\*19\. BERT\*\*")
"""The path of a note is in the note's language."""
KINDS = "title header subheader caption info warning success markdown".split()
WIDGETS = (
    "button selectbox slider segmented_control text_area text_input number_input expander".split()
)


def _texts(app: AppTest) -> Iterator[str]:
    """Yield the texts of a page and the labels and help of its widgets."""
    for kind in KINDS:
        yield from (str(found.value) for found in app.get(kind))
    for kind in WIDGETS:
        for found in app.get(kind):
            yield from (str(getattr(found, name, "") or "") for name in ("label", "help"))
    for found in app.get("html"):
        yield REST.sub(" ", found.proto.body)


def _written(part: object, name: str = "") -> Iterator[str]:
    """Yield what a figure writes beside its values: titles, axes, the legend."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _written(value, key if key in ("layout", "name", "text") else name)
    elif isinstance(part, list):
        for value in part:
            yield from _written(value, name)
    elif name in ("text", "name") and isinstance(part, str):
        yield re.sub("<[^>]*>", " ", part)


OPENED = {
    "tokens": {"view": "LayerNorm"},
    "masked_words": {"ranks": "1", "lens_open": "1"},
    "sentence_pairs": {"variants": "1", "between": "1", "text_a": REVIEW.text_a, "text_b": ""},
}
"""What else is opened on a page: figures."""


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("page", GROUPS[""])
def test_the_first_pages_open_without_an_english_sentence(page: str, code: str) -> None:
    app = ok(page_of(page, lesson_language=code, **OPENED.get(page, {})).run())
    known = WORD.findall(" ".join(f"{one.text_a} {one.text_b}" for one in EXAMPLES).lower())
    for chart in charts(app):
        bars = [trace.get("colorbar", {}) for trace in chart["data"]]
        legend = [{"name": trace["name"]} for trace in chart["data"] if page == "tokens"]
        del chart["layout"]["template"]
        titles = " ".join(_written([chart["layout"], bars, legend])).lower()
        assert not {*WORD.findall(titles)} - {*known, "cls", "sep", "mask", "bert"}
    shown = [LINK.sub("", text) for text in _texts(app) if not ENGLISH_NOTE.match(text)]
    shown = [text for text in shown if text]
    written = {text for one in EXAMPLES for text in (one.text_a, one.text_b) if text}
    for text in sorted({*written, *map(plain, written)}, key=len, reverse=True):
        shown = [one.replace(text, "") for one in shown]
    assert len(shown) > 7
    assert not [text for text in shown if ENGLISH.search(text)]


TERMS = {
    "zh": {
        "词元": ("令牌", "词符"),
        "子词": ("词片",),
        "注意力头": ("注意头", "关注头", "注意力头部"),
        "掩码": ("遮盖", "遮住的单词"),
        "标记": ("标注符",),
        "微调": ("精调",),
        "排第一的词": ("最佳单词",),
    },
    "ru": {
        "токен": ("лексем", "жетон"),
        "подслово": ("подтокен", "кусочек слова"),
        "голова внимания": ("внимательная голов", "головка внимания"),
        "маска": ("маскирующий токен",),
        "дообучение": ("файнтюн", "тонкая настройк"),
        "элемент словаря": ("запись словаря", "записи словаря"),
        "случайный выбор": ("жреби", "жеребь"),
    },
}
"""The term of each language, and what is not written for it."""


@pytest.mark.parametrize("code", TERMS)
def test_a_term_is_one_in_all_texts_of_a_language(code: str) -> None:
    """In lessons, exercises, the guide, pages and figures."""
    app = Path(language.__file__).resolve().parents[2]
    files = [*app.rglob(f"{code}.toml"), *(app / "screens" / "lessons" / code).glob("*.toml")]
    files.append(app / "screens" / "lessons" / "beside.toml")
    written = {file: file.read_text(encoding="utf-8").lower() for file in files}
    assert len(files) > 15
    for term, others in TERMS[code].items():
        assert any(term in text for text in written.values()), term
        for other in others:
            assert [file.name for file, text in written.items() if other in text] == [], term
