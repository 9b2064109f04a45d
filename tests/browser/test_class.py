"""A class in three browsers: two learners answer and hand in, and the teacher watches."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from app.shell.guide import catalogue
from tests.browser.test_every_page import ALL_RULES, Problems
from tests.support.browser.running import running_app
from tests.support.browser.visit import Visit
from tests.support.school import TEACHER

SHIPPED = Path(__file__).resolve().parents[2] / "bertcore" / "model" / "checkpoints" / "default"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="none ships"),
]
LESSON = next(iter(catalogue.lessons().values()))
HOSTILE = "<img src=x onerror=__pwned=1>"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    arguments = ("--closed", "--class", "NLP, group 2")
    with running_app(arguments=arguments, BERTSCOPE_CLASS_KEY=TEACHER) as running:
        yield running.url


def _answer(visit: Visit, number: float) -> Locator:
    guide = visit.page.locator(".st-key-lesson_question")
    guide.get_by_label("Your number").fill(f"{number:g}")
    guide.get_by_role("button", name="Check", exact=True).click()
    expect(guide.get_by_test_id("stAlert")).to_be_visible()
    visit.settle()
    return guide


def _enter(visit: Visit, name: str = "") -> None:
    """Go through the door of the class."""
    if name:
        visit.page.get_by_label("Your name").fill(name)
    visit.page.get_by_role("button", name="Begin" if name else "Without a name").click()
    visit.settle()


def _hand_in(visit: Visit) -> None:
    visit.page.get_by_role("button", name="Save, Python, link").last.click()
    visit.page.get_by_role("button", name="Hand in").first.click()
    form = visit.page.get_by_test_id("stDialog")  # the menu of the view is a dialog too
    form.get_by_label("What do you see?").fill(f"{HOSTILE} is cut.")
    form.get_by_role("button", name="Hand in").click()
    expect(form.get_by_text("Your class has it")).to_be_visible()
    form.get_by_role("button", name="Close").click()
    visit.settle()


def test_a_teacher_sees_what_two_learners_do(new_visit: Callable[..., Visit], url: str) -> None:
    teacher, ada, bob = (new_visit(color_scheme="light", reduced_motion="reduce") for _ in range(3))
    page = teacher.page
    page.goto(f"{url}/class")
    expect(page.get_by_role("heading", name="Grades")).to_have_count(0)
    page.get_by_label("The teacher's key").fill(TEACHER)
    page.get_by_test_id("stBaseButton-primaryFormSubmit").click()
    expect(page.get_by_text("learners: 0")).to_be_visible()
    ada.page.goto(f"{url}/{catalogue.link(LESSON.name)}")
    _enter(ada, HOSTILE)
    ada.arrive("masked-words")
    ada.page.get_by_role("button", name="Next", exact=True).click()
    ada.arrive("tokens")
    _answer(ada, 5.0)
    text = LESSON.text_a.replace(" ", "+")
    bob.page.goto(f"{url}/tokens?lesson={LESSON.name}&lesson_step=2&text_a={text}")
    _enter(bob)
    bob.arrive("tokens")
    _answer(bob, 10.0)
    expect(page.get_by_text("learners: 2")).to_be_visible()  # by itself
    expect(page.get_by_text("1 of 2 answered “5” in step 2")).to_be_visible()
    _answer(ada, 10.0)
    expect(page.get_by_text("changed later: 1")).to_be_visible()
    bob.page.close()  # in the middle of the lesson
    ada.page.get_by_role("button", name="Open the whole page").click()
    ada.settle()
    _hand_in(ada)
    row = page.get_by_role("row").filter(has_text="is cut.")
    expect(row).to_contain_text(f"{HOSTILE} is cut.")
    expect(row.get_by_role("link")).to_have_attribute("href", f"tokens?text_a={text}")
    page.get_by_text("Remove learners or findings").click()
    page.get_by_test_id("stMultiSelect").nth(1).locator("input").click()
    for key in ("ArrowDown", "Enter", "Escape"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("stMultiSelect").nth(1)).to_contain_text(HOSTILE)
    page.get_by_role("button", name="Remove those picked").nth(1).click()
    problems = Problems(teacher, ALL_RULES)
    problems.note("class")
    page.get_by_role("button", name="Remove them").click()
    expect(page.get_by_text("None yet. Hand in is under")).to_be_visible()
    expect(page.get_by_text("learners: 2")).to_be_visible()
    assert problems.ours == [], "\n".join(problems.ours)
    assert not page.evaluate("window.__pwned")
    assert not ada.page.evaluate("window.__pwned")
    ada.check()
    teacher.check()
