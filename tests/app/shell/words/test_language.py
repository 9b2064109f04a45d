"""The languages of lessons: the guide's words, what a language lacks, and an unknown one."""

import ast
import re
from pathlib import Path

import pytest

from app.shell.guide import catalogue
from app.shell.guide.sheet import page as sheet
from app.shell.words import language
from bertcore.lessons.answer import Found, Option
from tests.app.shell.guide.test_guide import answer, opened
from tests.support.opened import lessons_with_languages, ok, page_of, said

ROOT = Path(__file__).resolve().parents[4]
FIRST = next(iter(catalogue.lessons().values()))
OTHERS = [code for code in language.languages() if code != "en"]
PLACE = re.compile(r"\{\w*\}")


def _facts(text: str) -> list[str]:
    return sorted(PLACE.findall(text))


@pytest.mark.parametrize("code", OTHERS)
def test_each_language_has_the_same_words_and_facts(code: str) -> None:
    english, other = language.languages()["en"], language.languages()[code]
    assert [*other] == [*english]
    for part in english:
        assert [*other[part]] == [*english[part]]
        for key, text in english[part].items():
            assert _facts(other[part][key]) == _facts(text), (part, key)
            assert other[part][key] != text or key == "name", (part, key)


def _refusals() -> set[str]:
    """Return what the functions refuse a text with, {} for a fact."""
    refusals = set()
    files = [
        *(ROOT / "bertcore" / "lessons").glob("*.py"),
        ROOT / "app" / "shell" / "guide" / "guide.py",
    ]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "NotShownError":
                (sentence,) = node.args
                parts = sentence.values if isinstance(sentence, ast.JoinedStr) else [sentence]
                texts = (part.value if isinstance(part, ast.Constant) else "{}" for part in parts)
                refusals.add("".join(map(str, texts)))
    return refusals


def test_the_words_have_all_that_a_text_is_refused_with() -> None:
    known = {PLACE.sub("{}", text) for text in language.languages()["en"]["found"].values()}
    refusals = _refusals()
    assert len(refusals) > 9
    assert refusals <= known


@pytest.mark.parametrize(
    ("english", "russian"),
    [
        ("layer 2, head 5", "слой 2, голова 5"),
        ("one of 3 pieces of its word", "подслово: всего в этом слове их 3"),
        ("no bits", "без оценки в битах"),
        ("7.5 bits", "7.5 бит"),
        ("2: layer", "2: layer"),
    ],
)
def test_what_is_found_is_in_the_visitors_language(english: str, russian: str) -> None:
    (option,) = language.in_words(
        Found("a", options=(Option("a", "original", english),)), "ru"
    ).options
    assert (option.name, option.value) == ("a", russian)
    assert option.text == "original", "a token is no word of ours"
    (head,) = language.in_words(
        Found("a", options=(Option("1.2", "layer 1, head 2"),)), "ru"
    ).options
    assert head.text == "слой 1, голова 2"


@pytest.mark.parametrize("code", OTHERS)
def test_the_page_and_the_guide_speak_it(code: str) -> None:
    own = language.languages()[code]["guide"]
    lesson = catalogue.lessons(code)[FIRST.name]
    app = page_of("lessons")
    app.query_params["lesson_language"] = code
    shown = said(ok(app.run()))
    assert own["intro"] in shown
    assert lesson.summary in shown
    assert app.button(key=f"start_{FIRST.name}").label == f"1. {lesson.title}"
    guide = opened(FIRST.name, FIRST.text_a, lesson_language=code, lesson_step="2")
    shown = said(guide)
    assert lesson.steps[1].question in shown
    assert guide.button(key="lesson_next").label == own["next"]
    assert own["right"] in answer(guide, 10.0)
    assert own["wrong"].partition("{")[0] in answer(guide, 11.0)
    assert "".join(guide.query_params["lesson_language"]) == code
    page = sheet(lesson)
    assert f'<html lang="{code}">' in page
    assert language.languages()[code]["sheet"]["why"] in page
    assert FIRST.text_a in page, "the sentence stays English"


def test_an_unknown_language_is_english_and_named() -> None:
    app = lessons_with_languages()
    app.query_params["lesson_language"] = "[x](http://a.b)<b>" * 9
    shown = said(ok(app.run()))
    assert "The link asks for lessons in “" in shown
    assert "\\[x\\]\\(" in app.info[0].value, "shown letter by letter"
    assert FIRST.summary in shown
    app.segmented_control[0].set_value("ru").run()
    assert "The link asks" not in said(ok(app))
    guide = opened(FIRST.name, FIRST.text_a, lesson_language="xx")
    shown = said(guide)
    assert "The link asks for lessons in “xx”" in shown
    assert FIRST.steps[0].question in shown


def test_what_a_language_lacks_is_english_and_stated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (catalogue.FOLDER / "en").glob("0[12]-*.toml"):
        (tmp_path / "en").mkdir(exist_ok=True)
        (tmp_path / "en" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "ru").mkdir()
    path = catalogue.FOLDER / "ru" / "01-word-pieces.toml"
    (tmp_path / "ru" / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    catalogue.shipped.cache_clear()
    try:
        app = page_of("lessons")
        app.query_params["lesson_language"] = "ru"
        own = language.languages()["ru"]["guide"]["other_language"]
        assert said(ok(app.run())).count(own) == 1
        one, other = catalogue.lessons("ru").values()
        assert (one.language, other.language) == ("ru", "en")
        assert own in said(opened(other.name, other.text_a, lesson_language="ru"))
        assert '<html lang="en">' in sheet(other)
    finally:
        monkeypatch.undo()
        catalogue.shipped.cache_clear()
