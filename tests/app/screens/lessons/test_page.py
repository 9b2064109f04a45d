"""The page Lessons, a lesson on paper, and Markdown of lessons."""

import tomllib
from urllib.parse import parse_qsl

import pytest

from app.navigation import PAGES
from app.screens.lessons.page import BESIDE
from app.shell.guide import catalogue, guide
from app.shell.guide.sheet import page as sheet
from app.shell.words.language import languages
from tests.bertcore.lessons.test_lesson import CHOICE, HEAD, NUMBER
from tests.support.lesson_text import parse_lesson
from tests.support.opened import complaints, ok, page_of, said
from tests.support.school import school


def test_each_lesson_is_a_row_and_the_others_closed() -> None:
    app = ok(page_of("lessons").run())
    lessons = catalogue.lessons()
    begin = [one for one in app.button if str(one.key).startswith("start_")]
    titles = [lesson.title for lesson in lessons.values()]
    assert [one.label for one in begin] == [f"{n}. {one}" for n, one in enumerate(titles, 1)]
    for lesson in lessons.values():
        assert f"{lesson.minutes} min · 0/{len(lesson.steps)}" in said(app)
        shown = said(ok(app.selectbox(key="lesson_more").set_value(lesson.name).run()))
        assert lesson.summary in shown
        for goal in lesson.goals:
            assert goal in shown
        assert catalogue.find(lesson.name + catalogue.AGAIN) is not None
    assert catalogue.find("none") is catalogue.find("none-again") is None


def test_each_step_is_on_a_page() -> None:
    names = {page.name for page in PAGES.values()}
    for lesson in catalogue.lessons().values():
        for step in (*lesson.steps, *lesson.again):
            assert step.page.partition("?")[0] in names


def test_a_sheet_shows_hostile_texts_as_text() -> None:
    hostile = "<script>__pwned=1</script><img src=x onerror=__pwned=1>![](http://a.b)"
    text = (HEAD + NUMBER + CHOICE).replace("Count.", hostile).replace("How many", hostile)
    page = sheet(parse_lesson(text.replace("There are", hostile)))
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 3
    assert "There are" not in page
    assert "____ words" in page


def test_markdown_of_a_lesson_fetches_nothing() -> None:
    assert guide.markdown("![x](http://a) [CLS]") == r"!\[x\](http://a) \[CLS\]"


def test_a_link_to_no_lesson_is_a_sentence() -> None:
    shown = said(ok(page_of("lessons", start="<b>none</b>").run()))
    assert "There is no lesson <b>none</b>. Choose one below." in shown


def test_exercises_and_paths_lead_to_pages_and_lessons() -> None:
    """In each language, for each of the five notes in its own."""
    told = tomllib.loads(BESIDE.read_text(encoding="utf-8"))
    assert len(told["exercises"]) == 15
    assert [path["language"] for path in told["paths"]] == ["ru", "zh", "zh", "zh", "en"]
    links = [one["link"] for one in told["exercises"]]
    links += [link for path in told["paths"] for link, _ in path["steps"]]
    for link in links:
        name, _, query = link.partition("?")
        assert name in {page.name for page in PAGES.values()}, link
        lesson = dict(parse_qsl(query)).get("start")
        assert lesson is None or catalogue.find(lesson) is not None, link
    for code in languages():
        app = ok(page_of("lessons", lesson_language=code).run())
        shown = said(app)
        for exercise in told["exercises"]:
            assert f" {exercise[code]} [" in shown
        for path in told["paths"]:
            assert f"**{path['title']}** {path['about']}" in shown


def test_an_exercise_is_written_down_and_handed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ok(page_of("lessons").run())
    keys = [str(one.key) for one in app.text_area]
    assert keys == [f"exercise_{number}" for number in range(1, 16)]
    assert not any("hand_in" in str(one.key) for one in app.button)
    ok(app.text_area(key="exercise_2").set_value("Head 2.1 looks back.").run())
    assert app.session_state["_exercise_answers"][2] == "Head 2.1 looks back."
    with school(monkeypatch) as kept:
        app = ok(page_of("lessons").run())
        app.text_input(key="class_learner_name").set_value("Ada")
        ok(app.button(key="class_begin").click().run())
        app.button(key="exercise_2_hand_in").click()
        assert "finding is empty" in complaints(app.run())
        app.text_area(key="exercise_2").set_value("<b>Head 2.1</b> looks back.")
        app.button(key="exercise_2_hand_in").click()
        assert "Your class has it" in said(ok(app.run()))
        (finding,) = kept.findings()
        assert (finding.name, finding.page, finding.link) == ("Ada", "2. Heads", "heads")
        assert finding.text == "<b>Head 2.1</b> looks back."
