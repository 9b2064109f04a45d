"""Translations of lessons: texts in the place of the original's, and what is refused."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore.lessons.lesson import read_lesson
from tests.bertcore.lessons.test_lesson import CHOICE, HEAD, NUMBER
from tests.support.lesson_text import parse_lesson

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(
    path
    for path in (ROOT / "app" / "screens" / "lessons").glob("*/*.toml")
    if path.parent.name != "en"
)
SCRIPTS = {"zh": "[\u4e00-\u9fff]", "ru": "[\u0400-\u04ff]"}
TEXTS = """title = "Ä"
summary = "Ö"
goals = ["Zählen."]
[[steps]]
title = "Tokens"
text = "Es sind {num_words} Wörter."
question = "Wie viele Tokens?"
right = "Ja, {answer}."
wrong = "Nein, nicht {chosen}, sondern {answer}."
[steps.because]
num_words = "Das sind die Wörter."
[[steps]]
title = "CLS"
text = "Es steht vorn."
question = "Warum?"
[[steps.choices]]
text = "Eins"
why = "Darum."
[[steps.choices]]
text = "Zwei"
why = "Nein."
"""


def read(folder: Path, texts: str, original: str = HEAD + NUMBER + CHOICE) -> Path:
    """Write an original and a translation, and return the latter's path."""
    for language, text in (("en", original), ("de", texts)):
        (folder / language).mkdir(exist_ok=True)
        (folder / language / "01-a.toml").write_text(text, encoding="utf-8")
    return folder / "de" / "01-a.toml"


def test_a_translation_has_the_structure_of_the_original(tmp_path: Path) -> None:
    lesson = read_lesson(read(tmp_path, TEXTS))
    original = parse_lesson(HEAD + NUMBER + CHOICE)
    assert (lesson.name, lesson.title, lesson.goals) == ("a", "Ä", ("Zählen.",))
    assert (lesson.text_a, lesson.minutes) == (original.text_a, original.minutes)
    number, choice = lesson.steps
    assert number.because == {"num_words": "Das sind die Wörter."}
    assert [one.text for one in choice.choices] == ["Eins", "Zwei"]
    for step, before in zip(lesson.steps, original.steps, strict=True):
        assert (step.page, step.answer, step.goal) == (before.page, before.answer, before.goal)
        assert [one.name for one in step.choices] == [one.name for one in before.choices]


def test_a_whole_lesson_of_the_same_name_stays_its_own(tmp_path: Path) -> None:
    path = read(tmp_path, HEAD.replace('"A"', '"Eigene"') + CHOICE)
    lesson = read_lesson(path)
    assert (lesson.title, len(lesson.steps)) == ("Eigene", 1)


BAD = {
    "a text is missing": ('title = "CLS"\n', "", "steps 2, title is missing."),
    "a step is missing": (TEXTS.partition('"\n[[steps]]\ntitle = "CLS"')[2], "", "steps 2, text"),
    "a choice too many": (
        '"Nein."',
        '"Nein."\n[[steps.choices]]\ntext = "Drei"\nwhy = "x"',
        "steps 2, choices 3, text is not in the original.",
    ),
    "what is no text": ('text = "Es', 'page = "x"\ntext = "Es', "page is not in the original"),
    "a number": ('"Warum?"', "3", "question is '3'; expected a text"),
    "an empty text": ('"Warum?"', '" "', "question is ' '; expected a text"),
    "a table": ('"Warum?"', "{ a = 1 }", "question is"),
    "another fact": ("{num_words} W", "{words} W", "has the facts {words}; the original"),
    "a fact in percent": ("{num_words} W", "{num_words%} W", "the original has {num_words}."),
    "a fact less": ("{num_words} W", "W", "has the facts none"),
    "a mistake too many": ("[steps.because]", '[steps.because]\nx = "y"', "because x is not"),
    "a goal too many": ('["Zählen."]', '["Zählen.", "Mehr."]', "goals 2 is not in the original"),
    "goals as a text": ('["Zählen."]', '"Zählen."', "goals 1 is missing"),
    "steps as a text": ('[[steps]]\ntitle = "Tokens"', "[steps]\ntitle = 1", "Cannot"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_differs_is_named(name: str, tmp_path: Path) -> None:
    old, new, words = BAD[name]
    assert old in TEXTS
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        read_lesson(read(tmp_path, TEXTS.replace(old, new, 1)))
    assert len(str(refused.value)) < 800


@given(
    st.recursive(
        st.text(max_size=3) | st.integers(),
        lambda some: (
            st.lists(some)
            | st.dictionaries(st.sampled_from(["steps", "title", "because", "goals"]), some)
        ),
    )
)
def test_no_content_is_a_crash(content: object) -> None:
    from bertcore.lessons.translation import translated

    original = {"title": "A", "goals": ["x"], "steps": [{"title": "T", "because": {"a": "b"}}]}
    with pytest.raises(ValueError, match="as a translation it differs"):
        translated(original, {"steps": content})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_shipped_translation_is_in_its_language(path: Path) -> None:
    """Its answers are computed with those of the original, in test_lesson.py."""
    lesson = read_lesson(path)
    script = re.compile(SCRIPTS[path.parent.name])
    texts = [lesson.title, lesson.summary, lesson.notes, *lesson.goals, *lesson.misconceptions]
    for step in (*lesson.steps, *lesson.again):
        texts += [step.text, step.question, *filter(None, (step.right, step.wrong))]
        texts += [*step.because.values(), *(choice.why for choice in step.choices)]
        texts += [choice.wrong for choice in step.choices if choice.wrong]
    for text in texts:
        bare = re.sub(r"\{\w+%?\}|“[^”]*”|«[^»]*»", "", text)
        assert script.search(bare) or not re.search(r"[A-Za-z]{3}", bare), text
        if path.parent.name == "zh":
            assert not re.search(r"[\u4e00-\u9fff][,.;:?!]", bare), f"narrow punctuation: {text}"
