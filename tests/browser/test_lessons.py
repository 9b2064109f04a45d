"""A class takes a lesson: from the list to the end, with clicks, keys and a phone."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, expect

from app.shell.guide import catalogue
from app.shell.words.language import in_words, languages
from bertcore import load
from bertcore.lessons.answer import Found
from bertcore.lessons.lesson import Lesson, Step
from tests.app.shell.guide.test_guide import answers
from tests.browser.test_every_page import ALL_RULES, COLOURS, Problems
from tests.support.browser.visit import Visit

SHIPPED = Path(__file__).resolve().parents[2] / "bertcore" / "model" / "checkpoints" / "default"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="none ships"),
]
FIRST, *OTHERS = catalogue.lessons().values()


def _guide(visit: Visit) -> Locator:
    """The lesson but for its figure, which has boxes and headings of its own."""
    return visit.page.locator(".st-key-lesson_guide, .st-key-lesson_question")


def _read_as(visit: Visit, selector: str) -> Locator:
    """What names the language in which a screen reader reads a part: it, or the nearest around."""
    return visit.page.locator(selector).locator("xpath=ancestor-or-self::*[@lang][1]")


def _check(
    visit: Visit, step: Step, found: Found, chosen: str | float, code: str = "en"
) -> Locator:
    """Answer the question that is shown; return what the guide then says."""
    words = languages()[code]["guide"]
    text = step.options(found).get(str(chosen), "")
    guide = _guide(visit)
    again = guide.get_by_text(words["answer_again"], exact=True)  # folded once it is answered
    if again.count():
        again.click()
    if isinstance(chosen, float):
        guide.get_by_label(words["number"]).fill(f"{chosen:g}")
    elif guide.get_by_role("slider").count():  # a drawn row: all on one token
        for place, slider in enumerate(guide.get_by_role("slider").all()):
            slider.press("End" if str(place) == chosen else "Home")
            visit.settle()
    elif guide.get_by_role("combobox").count():
        visit.choose(guide.get_by_role("combobox"), text)
    else:  # the label, since the circle lies below it
        guide.locator("label").filter(has_text=re.compile(f"^{re.escape(text)}$")).click()
    guide.get_by_role("button", name=words["check"], exact=True).click()
    visit.settle()
    return guide.get_by_test_id("stAlert")


SWEPT = pytest.param(FIRST, marks=pytest.mark.sweep)


@pytest.mark.parametrize("lesson", [SWEPT, *OTHERS], ids=lambda lesson: lesson.name)
def test_a_lesson_is_taken(visit: Visit, lesson: Lesson) -> None:
    """Every question, wrongly and rightly, beside its picture, on the learner's sentence.

    tests/app/shell/guide/test_guide.py does so on that of the lesson and in each language.
    """
    words = languages()["en"]["guide"]
    visit.open("lessons", text_a=lesson.other_a, text_b=lesson.other_b)
    more = visit.page.locator(".st-key-lesson_list summary")
    more.filter(has_text=words["own_text"]).click()
    visit.choose(visit.page.get_by_role("combobox", name="Lessons"), lesson.title)
    visit.page.locator(".st-key-lesson_own").get_by_role("button").click()
    bert = load("default")
    for number, step in enumerate(lesson.steps, start=1):
        expect(_guide(visit).get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        visit.settle()
        text_a, text_b = lesson.other_a, lesson.other_b or None
        if step.text_a is not None:  # the step brings its own, and the next has the learner's again
            text_a, text_b = step.text_a, step.text_b
        found = in_words(step.find(bert, text_a, text_b), "en")
        name, _ = step.address(found)
        expect(visit.page).to_have_url(re.compile(rf"/{name}\b"))
        wrong, right = answers(step, found)
        told = words["wrong" if step.answer else "not_right"].partition("{")[0]
        first = words["not_yet"] if len(step.options(found)) != 2 else told
        expect(_check(visit, step, found, wrong)).to_contain_text(first)
        expect(visit.page.locator(".cover")).to_have_count(int(step.covers_page and first != told))
        expect(_check(visit, step, found, right)).to_contain_text(words["right"])
        expect(visit.page.locator(".cover")).to_have_count(0)
        visit.check()
        last = number == len(lesson.steps)
        _guide(visit).get_by_role("button", name=words["finish" if last else "next"]).click()
    end = visit.page.locator(".st-key-lesson_figure")
    expect(end.get_by_role("heading", name=words["end"])).to_be_visible()
    end.get_by_role("button", name=words["lessons"], exact=True).click()
    visit.arrive("lessons")
    number = len(lesson.steps)
    expect(visit.page.locator(f".st-key-lesson_{lesson.name}")).to_contain_text(
        f"{number}/{number}"
    )


def test_the_window_shows_the_picture_of_a_step(new_visit: Callable[..., Visit]) -> None:
    """One that is further down, after a click and by its link; the visitor may scroll away."""
    visit = new_visit(color_scheme="light", reduced_motion="reduce")
    steps = (step for lesson in catalogue.lessons().values() for step in lesson.steps)
    step = next(step for step in steps if step.part == "section_other_heads")
    page, choices = step.address(None)
    at, text = {"lesson": step.lesson.name, "lesson_step": step.number}, step.lesson.text_a
    address = urlencode({**choices, **at, "text_a": text}, doseq=True)
    visit.page.goto(f"{visit.url}/{page}?{address}")
    show = languages()["en"]["guide"]["show_me"]
    _guide(visit).get_by_role("button", name=show).click()  # the link then has it: reload below
    visit.page.wait_for_url(re.compile("lesson_done="))
    part = visit.page.locator(".st-key-section_other_heads")
    expect(part).to_be_visible()
    main = "document.querySelector('[data-testid=stMain]')"
    box = "document.querySelector('.st-key-{}').getBoundingClientRect()".format
    top, foot = f"{box('section_other_heads')}.top", f"{box('lesson_question')}.top"
    is_shown = f"() => {top} >= 0 && {top} < {foot} - 100 && {main}.scrollTop > 0"
    visit.page.wait_for_function(is_shown)
    visit.page.evaluate(f"() => {main}.scrollTo(0, 0)")
    visit.page.reload()
    expect(part).to_be_visible()
    visit.page.wait_for_function(is_shown)
    part.hover()
    visit.page.mouse.wheel(0, -5000)
    visit.page.wait_for_function(f"() => {main}.scrollTop === 0")
    visit.page.wait_for_timeout(600)  # two turns of what keeps it in view
    assert visit.page.evaluate(f"{main}.scrollTop") == 0
    visit.check()


def test_a_picture_opens_as_its_step_says_and_a_sentence_is_typed_below(visit: Visit) -> None:
    """A picture of the page before does not stay; no letter is lost when the cover comes back."""
    lesson = catalogue.lessons()["what-a-picture-does-not-say"]
    show = languages()["en"]["guide"]["show_me"]
    visit.open("attention", lesson=lesson.name, text_a=lesson.text_a)
    for number in (1, 5, 6):
        if number > 1:
            visit.page.get_by_text(languages()["en"]["guide"]["all_steps"]).click()
            visit.page.locator(f".st-key-lesson_to_{number}").get_by_role("button").click()
        heading = lesson.steps[number - 1].title
        expect(_guide(visit).get_by_role("heading", name=heading, exact=True)).to_be_visible()
        visit.settle()
        _guide(visit).get_by_role("button", name=show).click()
        expect(visit.page.locator(".cover")).to_have_count(0)
        visit.settle()
        visit.wait_for_query("view", "heat-map" if number > 1 else None)
    visit.wait_for_query("measure", "norms")
    own = "Maria told her sister that it rains."
    visit.box("A").click()
    visit.page.keyboard.press("Control+a")
    visit.page.keyboard.type(own, delay=120)
    expect(visit.box("A")).to_have_value(own)
    expect(visit.page.locator(".cover")).to_have_count(1)
    expect(visit.box("A")).to_be_focused()
    visit.check()


def test_the_part_that_a_step_is_about_is_on_its_page(visit: Visit) -> None:
    """Its key is the name of a function or a picture; where it is missing, nothing scrolls."""
    steps = [step for lesson in catalogue.lessons().values() for step in lesson.steps if step.part]
    for page in sorted({step.address(None)[0] for step in steps}):
        there = [step for step in steps if step.address(None)[0] == page]
        choices = {name: value for step in there for name, value in step.address(None)[1].items()}
        visit.open(page, text_a=FIRST.text_a, **choices)
        for part in sorted({step.part for step in there}):
            expect(visit.page.locator(f".st-key-{part}")).to_be_visible(timeout=10_000)


@pytest.mark.parametrize(("scheme", "rules"), [("light", ALL_RULES), ("dark", COLOURS)])
def test_the_guide_is_for_everybody(
    new_visit: Callable[..., Visit], scheme: str, rules: dict[str, object]
) -> None:
    """It violates no rule of axe, with an answer and in a phone, and takes a click and keys."""
    visit = new_visit(color_scheme=scheme, reduced_motion="reduce")
    number = next(n for n, step in enumerate(FIRST.steps, 1) if step.title == "A word in pieces")
    query = {"lesson": FIRST.name, "lesson_step": str(number)}
    visit.open("tokens", **query, text_a=FIRST.text_a)
    visit.page.locator(".st-key-strip .words button").nth(2).click()
    visit.wait_for_query("token", "2")
    _guide(visit).get_by_role("button", name="Take my click in the picture").press("Enter")
    check = _guide(visit).get_by_role("button", name="Check", exact=True)
    choice = _guide(visit).get_by_role("combobox", name="Your choice")
    expect(choice).to_have_value("2: ##ness")
    check.press("Enter")
    expect(_guide(visit).get_by_test_id("stAlert")).to_contain_text("Right.")
    visit.page.wait_for_url(re.compile(rf"lesson_done=-{{{number - 1}}}r\."))
    visit.rest()  # what a rerun has not reached yet is pale
    problems = Problems(visit, rules)
    problems.note("guide")
    assert problems.ours == [], "\n".join(problems.ours)
    visit.page.set_viewport_size({"width": 480, "height": 900})
    visit.settle()
    expect(visit.page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(_guide(visit).get_by_role("button", name="Next", exact=True)).to_be_in_viewport()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 480
    visit.check()


@pytest.mark.parametrize("code", [code for code in languages() if code != "en"])
def test_a_lesson_in_another_language(new_visit: Callable[..., Visit], code: str) -> None:
    """Chosen on the page, kept in the link and on the way back; marked for screen readers."""
    visit = new_visit(color_scheme="light", reduced_motion="reduce")
    words = languages()[code]["guide"]
    lesson = catalogue.lessons(code)[FIRST.name]
    visit.open("lessons")
    visit.page.get_by_role("radio", name=words["name"]).click()
    visit.wait_for_query("lesson_language", code)
    expect(visit.page.get_by_role("button", name=lesson.title)).to_be_visible()
    visit.rest()
    problems = Problems(visit, ALL_RULES)
    problems.note("list")
    visit.page.locator(f".st-key-start_{lesson.name}").get_by_role("button").click()
    expect(_guide(visit).get_by_role("heading", name=lesson.steps[0].title)).to_be_visible()
    expect(_read_as(visit, ".st-key-lesson_guide")).to_have_attribute("lang", code)
    visit.settle()
    step = lesson.steps[0]
    assert step.text_a is not None
    found = in_words(step.find(load("default"), step.text_a, step.text_b), code)
    wrong, right = answers(step, found)
    expect(_check(visit, step, found, wrong, code)).to_contain_text(words["not_yet"])
    expect(_check(visit, step, found, right, code)).to_contain_text(words["right"])
    visit.wait_for_query("lesson_language", code)
    visit.rest()
    problems.note("guide")
    assert problems.ours == [], "\n".join(problems.ours)
    _guide(visit).get_by_role("button", name=words["all_steps"]).click()
    visit.page.get_by_role("button", name=words["leave"]).click()
    expect(_read_as(visit, ".st-key-lesson_list")).to_have_attribute("lang", code)
    expect(visit.page.get_by_role("button", name=lesson.title)).to_be_visible()
    visit.check()
