"""A class takes a lesson: from the list to the end, with clicks, keys and a phone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from app.guide import catalogue
from app.guide.language import in_words, languages
from bertcore import load
from bertcore.lessons.answer import Found
from bertcore.lessons.lesson import Lesson, Step, filled
from tests.app.guide.test_guide import answers
from tests.browser.test_every_page import ALL_RULES, COLOURS, Problems
from tests.support.browser.visit import Visit

SHIPPED = Path(__file__).resolve().parents[2] / "bertcore" / "checkpoints" / "default"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="none ships"),
]
FIRST: Lesson = next(iter(catalogue.lessons().values()))
OTHERS = [
    pytest.param(lesson, button, id=f"{lesson.name}-{code}-{button}")
    for code in languages()
    for lesson in catalogue.lessons(code).values()
    for button in ("start", "own")
    if lesson.language == code and (lesson, button) != (FIRST, "start")
]


def _parts() -> dict[str, tuple[dict[str, list[str]], set[str]]]:
    """Return the choices and the parts of each page that a step scrolls to, in any language."""
    found: dict[str, tuple[dict[str, list[str]], set[str]]] = {}
    steps = [
        step
        for code in languages()
        for lesson in catalogue.lessons(code).values()
        for step in lesson.steps
        if step.part
    ]
    for step in steps:
        page, query = step.address(None)
        choices, parts = found.setdefault(page, ({}, set()))
        choices.update(query)
        parts.add(step.part)
    return found


PARTS = _parts()


def _guide(visit: Visit) -> Locator:
    return visit.page.locator(".st-key-lesson_guide")


def _check(
    visit: Visit, step: Step, found: Found, chosen: str | float, code: str = "en"
) -> Locator:
    """Answer the question that is shown; return what the guide then says."""
    words = languages()[code]["guide"]
    text = step.options(found).get(str(chosen), "")
    guide = _guide(visit)
    if isinstance(chosen, float):
        guide.get_by_label(words["number"]).fill(f"{chosen:g}")
    elif guide.get_by_role("slider").count():  # a drawn row: all on one token
        for place, slider in enumerate(guide.get_by_role("slider").all()):
            slider.press("End" if str(place) == chosen else "Home")
            visit.settle()
    elif guide.get_by_role("radio").count():
        # The label, since the circle lies below it.
        guide.locator("label").filter(has_text=re.compile(f"^{re.escape(text)}$")).click()
    else:
        guide.get_by_role("combobox").fill(text)  # a long list is drawn in part
        visit.page.get_by_role("option", name=text, exact=True).click()
    guide.get_by_role("button", name=words["check"], exact=True).click()
    visit.settle()
    return guide.get_by_test_id("stAlert")


@pytest.mark.parametrize(
    ("lesson", "button"), [pytest.param(FIRST, "start", marks=pytest.mark.sweep), *OTHERS]
)
def test_a_lesson_is_taken(new_visit: Callable[..., Visit], lesson: Lesson, button: str) -> None:
    """Every question, wrongly and rightly, beside its picture; on the learner's sentence, too."""
    visit = new_visit(color_scheme="light", reduced_motion="reduce")
    code = lesson.language
    words = languages()[code]["guide"]
    other = {"text_a": lesson.other_a, "text_b": lesson.other_b}
    visit.open("lessons", **other, lesson_language=code)
    visit.page.locator(f".st-key-{button}_{lesson.name}").get_by_role("button").click()
    bert = load("default")
    text_a, text_b = lesson.text_a, lesson.text_b or None
    if button == "own":
        text_a, text_b = lesson.other_a, lesson.other_b or None
    for number, step in enumerate(lesson.steps, start=1):
        expect(_guide(visit).get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        visit.settle()
        if step.text_a is not None:  # the step brings its own
            text_a, text_b = step.text_a, step.text_b
        found = in_words(step.find(bert, text_a, text_b), code)
        name, _ = step.address(found)
        expect(visit.page).to_have_url(re.compile(rf"/{name}\b"))
        wrong, right = answers(step, found)
        model = words["model"].partition("**")[0].strip()
        expect(_check(visit, step, found, wrong, code)).to_contain_text(model)
        expect(_check(visit, step, found, right, code)).to_contain_text(words["right"])
        visit.check()
        last = number == len(lesson.steps)
        _guide(visit).get_by_role("button", name=words["finish" if last else "next"]).click()
    visit.arrive("lessons")
    number = len(lesson.steps)
    done = filled(words["done_right"], {"done": f"{number}/{number}", "right": number}, str)
    expect(visit.page.get_by_role("cell", name=done)).to_be_visible()


def test_the_window_shows_the_picture_of_a_step(new_visit: Callable[..., Visit]) -> None:
    """One that is further down, after a click and by its link; the visitor may scroll away."""
    visit = new_visit(color_scheme="light", reduced_motion="reduce")
    visit.page.set_viewport_size({"width": 1280, "height": 900})
    lesson = catalogue.lessons()["one-head"]
    at = next(n for n, step in enumerate(lesson.steps, 1) if step.title == "Follow one line")
    query = {"lesson": lesson.name, "text_a": lesson.text_a}
    visit.open("attention", **query, lesson_step=str(at), layer="2", view="lines")
    main = "document.querySelector('[data-testid=stMain]')"
    top = "document.querySelector('.st-key-attention_open').getBoundingClientRect().top"
    is_shown = f"() => {top} < 200 && {main}.scrollTop > 0"
    visit.page.wait_for_function(is_shown)
    visit.page.evaluate(f"() => {main}.scrollTo(0, 0)")
    _guide(visit).get_by_role("button", name="Show the picture again").click()
    visit.page.wait_for_function(is_shown)
    visit.page.locator(".st-key-attention_open").hover()
    visit.page.mouse.wheel(0, -5000)
    visit.page.wait_for_function(f"() => {main}.scrollTop === 0")
    visit.page.wait_for_timeout(600)  # two turns of what keeps it in view
    assert visit.page.evaluate(f"{main}.scrollTop") == 0
    visit.check()


@pytest.mark.parametrize("page", PARTS)
def test_the_part_that_a_step_is_about_is_on_its_page(visit: Visit, page: str) -> None:
    """Its key is the name of a function or a picture; where it is missing, nothing scrolls."""
    choices, parts = PARTS[page]
    visit.open(page, text_a=FIRST.text_a, **choices)
    for part in sorted(parts):
        expect(visit.page.locator(f".st-key-{part}")).to_be_visible(timeout=10_000)


@pytest.mark.parametrize(
    ("scheme", "rules"),
    [("light", ALL_RULES), ("dark", COLOURS)],
)
def test_the_guide_is_for_everybody(
    new_visit: Callable[..., Visit], scheme: str, rules: dict[str, object]
) -> None:
    """It violates no rule of axe, with an answer and in a phone, and takes a click and keys."""
    visit = new_visit(color_scheme=scheme, reduced_motion="reduce")
    number = next(n for n, step in enumerate(FIRST.steps, 1) if step.title == "A word in pieces")
    query = {"lesson": FIRST.name, "lesson_step": str(number), "text_a": FIRST.text_a}
    visit.open("tokens", **query, lesson_done="rw")
    visit.page.locator(".st-key-strip .words button").nth(2).click()
    visit.wait_for_query("token", "2")
    _guide(visit).get_by_role("button", name="Take my click in the picture").press("Enter")
    check = _guide(visit).get_by_role("button", name="Check", exact=True)
    choice = _guide(visit).get_by_role("combobox", name="Your choice")
    expect(choice).to_have_value("2: ##ness")
    check.press("Enter")
    expect(_guide(visit).get_by_test_id("stAlert")).to_contain_text("Right.")
    visit.wait_for_query("lesson_done", "rw-r")
    problems = Problems(visit, rules)
    problems.note("guide")
    assert problems.ours == [], "\n".join(problems.ours)
    visit.page.set_viewport_size({"width": 480, "height": 900})
    visit.settle()
    box = visit.page.get_by_test_id("stSidebar").bounding_box()
    assert box is not None
    assert (box["y"] > 400, box["width"]) == (True, 480)
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
    expect(visit.page.get_by_role("heading", name=lesson.title)).to_be_visible()
    visit.settle()  # what a rerun has not reached yet is pale
    problems = Problems(visit, ALL_RULES)
    problems.note("list")
    visit.page.locator(f".st-key-start_{lesson.name}").get_by_role("button").click()
    expect(_guide(visit).get_by_role("heading", name=lesson.steps[0].title)).to_be_visible()
    expect(_guide(visit)).to_have_attribute("lang", code)
    visit.settle()
    found = lesson.steps[0].find(load("default"), lesson.text_a, None)
    wrong, right = answers(lesson.steps[0], found)
    expect(_check(visit, lesson.steps[0], found, wrong, code)).to_contain_text(f"{right:g}")
    expect(_check(visit, lesson.steps[0], found, right, code)).to_contain_text(words["right"])
    visit.wait_for_query("lesson_language", code)
    problems.note("guide")
    assert problems.ours == [], "\n".join(problems.ours)
    _guide(visit).get_by_role("button", name=words["all_steps"]).click()
    visit.page.get_by_role("button", name=words["leave"]).click()
    visit.arrive("lessons")
    expect(visit.page.locator(".st-key-lesson_list")).to_have_attribute("lang", code)
    expect(visit.page.get_by_role("heading", name=lesson.title)).to_be_visible()
    visit.check()


def test_a_lesson_that_is_begun_from_below_opens_at_the_top(
    new_visit: Callable[..., Visit],
) -> None:
    visit = new_visit(viewport={"width": 480, "height": 900})
    visit.open("lessons")
    # A step with a part is scrolled to it.
    lesson = [one for one in catalogue.lessons().values() if not one.steps[0].part][-1]
    start = visit.page.locator(f".st-key-start_{lesson.name}").get_by_role("button")
    start.scroll_into_view_if_needed()
    main = visit.page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollTop") > 900
    start.click()
    expect(_guide(visit)).to_be_visible()
    visit.settle()
    assert main.evaluate("main => main.scrollTop") == 0
