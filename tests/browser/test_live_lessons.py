"""Lessons in a static site, with the network cut: walked, in three languages, and for everybody."""

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

import bertcore
from app.live.lessons import kept, lessons
from app.live.live_file import PAGES, live_site
from app.shell.words.language import in_words, languages
from bertcore import Bert
from bertcore.lessons.answer import Found
from bertcore.lessons.lesson import Lesson, Step, filled, judge, tell
from tests.app.shell.guide.test_guide import answers
from tests.support.browser.live_site import serve

pytestmark = pytest.mark.browser
WALKS = [("word-pieces", "zh"), ("one-head", "en"), ("masked-words", "ru"), ("next-sentence", "en")]
"""Each kind of question; tests/app/live/test_lessons.py has all, without a browser."""


@pytest.fixture(scope="module")
def bert() -> Bert:
    return bertcore.load("default", device="cpu")


@pytest.fixture(scope="module")
def address(bert: Bert, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    for name, content in live_site(bert, "float16").items():
        (folder / name).write_bytes(content)
    with serve(folder) as found:
        yield found


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


def open_site(context: BrowserContext, address: str, fragment: str = "") -> Page:
    """Open the site, and cut the network once it has computed."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.goto(address + fragment)
    expect(page.locator(".status")).to_contain_text("computed here")
    context.set_offline(True)
    page.complaints = complaints  # type: ignore[attr-defined]
    return page


def guide_of(page: Page) -> Locator:
    return page.locator(".guide")


def steps_of(bert: Bert, name: str, code: str) -> tuple[Lesson, list[Step]]:
    return next(found for found in lessons(kept(bert, PAGES), code) if found[0].name == name)


def step_called(bert: Bert, title: str) -> tuple[int, Step]:
    """Return a step of lesson 1 and its number."""
    steps = steps_of(bert, "word-pieces", "en")[1]
    return next((n, step) for n, step in enumerate(steps, 1) if step.title == title)


def give(page: Page, step: Step, found: Found, chosen: str | float, code: str) -> Locator:
    guide, options = guide_of(page), step.options(found)
    expect(guide.get_by_role("button", name=languages()[code]["guide"]["check"])).to_be_visible()
    if isinstance(chosen, float):
        guide.get_by_role("textbox").fill(repr(chosen))
        guide.get_by_role("textbox").press("Enter")
        return guide.locator(".verdict")
    if guide.get_by_role("radio").count():
        guide.get_by_role("radio", name=options[chosen], exact=True).check()
    else:
        guide.get_by_role("combobox").select_option(chosen)
    guide.get_by_role("button", name=languages()[code]["guide"]["check"], exact=True).click()
    return guide.locator(".verdict")


@pytest.mark.parametrize(("name", "code"), WALKS)
def test_a_lesson_is_walked(
    bert: Bert, context: BrowserContext, address: str, name: str, code: str
) -> None:
    """Every question wrongly and rightly; then on another text, with the answer to that."""
    lesson, steps = steps_of(bert, name, code)
    words = languages()[code]["guide"]
    page = open_site(context, address, f"#a=x&lesson_language={code}")
    guide = guide_of(page)
    guide.locator("summary", has_text=lesson.title).click()
    guide.locator("details[open]").get_by_role("button", name=words["start"], exact=True).click()
    for number, step in enumerate(steps, start=1):
        expect(guide.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        texts = (lesson.text_a, lesson.text_b or None)
        if step.text_a is not None:  # for this step alone
            texts = (step.text_a, step.text_b)
        found = in_words(step.find(bert, *texts), code)
        wrong, right = answers(step, found)
        models = tell(step, found, judge(step, found, right)).models
        said = give(page, step, found, wrong, code)
        expect(said).not_to_contain_text(words["right"])
        if not step.choices and not isinstance(right, float):
            expect(said).to_contain_text(models)
        expect(give(page, step, found, right, code)).to_contain_text(words["right"])
        expect(guide).not_to_contain_text("undefined")
        expect(page).to_have_url(re.compile(f"lesson_done=r{{{number}}}(&|$)"))
        last = number == len(steps)
        guide.get_by_role("button", name=words["finish" if last else "next"], exact=True).click()
    guide.locator("summary", has_text=lesson.title).click()
    count = len(steps)
    done = filled(words["done_right"], {"done": f"{count}/{count}", "right": count}, str)
    expect(guide.locator("details[open]")).to_contain_text(done)
    assert page.complaints == []  # type: ignore[attr-defined]


def test_answers_follow_the_text_and_the_link(
    bert: Bert, context: BrowserContext, address: str
) -> None:
    number, step = step_called(bert, "How many pieces?")
    fragment = f"#a=Carelessness.&lesson=word-pieces&lesson_step={number}"
    page = open_site(context, address, fragment)
    guide, text = guide_of(page), page.get_by_label("Text A")
    guide.get_by_role("textbox").fill("7")
    text.fill("Carelessness. ")  # has the same answer
    page.wait_for_timeout(1500)  # longer than a text rests before it is asked about
    expect(guide.get_by_role("textbox")).to_have_value("7")
    for typed in ("Carelessness.", "An unforgettable palaeontologist."):
        text.fill(typed)
        found = step.find(bert, typed, None)
        expect(guide).to_contain_text(str(found.facts["word"]))
        said = give(page, step, found, float(found.answer), "en")
        expect(said).to_contain_text("Right.")
    text.fill("The river.")  # shows it not
    expect(guide).to_contain_text("Each word of this text is one piece: none is cut.")
    guide.get_by_role("button", name="Take the lesson's sentence").click()
    expect(text).to_have_value(str(step.text_a))
    text.fill("<b>&\u202e\u0301 unhappily")
    expect(guide.locator("b")).to_have_count(0)
    guide.get_by_role("button", name="Back").press("Enter")
    expect(guide.get_by_role("heading", name="A word in pieces")).to_be_focused()
    guide.locator("summary").click()
    guide.get_by_role("button", name="Leave the lesson").click()
    guide.get_by_label("Language", exact=True).select_option("zh")
    expect(guide).to_have_attribute("lang", "zh")
    assert page.complaints == []  # type: ignore[attr-defined]


def test_a_lesson_may_begin_before_the_weights_are_there(
    context: BrowserContext, address: str
) -> None:
    """Its question comes with them; also after another address, and with what that one says."""
    page = context.new_page()
    held: list[Route] = []
    page.route(re.compile(r"weights\."), lambda route: held.append(route))
    page.goto(address)
    guide = guide_of(page)
    guide.locator("summary").first.click()
    guide.locator("details[open]").get_by_role("button", name="Start", exact=True).click()
    check = guide.get_by_role("button", name="Check", exact=True)
    expect(guide.get_by_role("button", name="Next", exact=True)).to_be_visible()
    expect(check).to_have_count(0)
    assert held
    for route in held:
        route.continue_()
    expect(check).to_be_visible()
    step = page.url
    page.evaluate("location.hash = '#a=The+river.'")
    expect(check).to_have_count(0)
    page.go_back()
    expect(page).to_have_url(step)
    expect(check).to_be_visible()


def test_a_token_that_is_clicked_is_the_answer(
    bert: Bert, context: BrowserContext, address: str
) -> None:
    number, _ = step_called(bert, "A word in pieces")
    text = "The+river+bank+was+rather+carelessness"
    page = open_site(context, address, f"#a={text}&lesson=word-pieces&lesson_step={number}")
    guide = guide_of(page)
    page.get_by_role("listbox").first.get_by_role("option").nth(7).click()
    guide.get_by_role("button", name="Take my click in the picture").click()
    expect(guide.get_by_role("combobox")).to_have_value("7")
    guide.get_by_role("button", name="Check").click()
    expect(guide.locator(".verdict")).to_contain_text("Right.")


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_the_guide_is_for_everybody(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    context = browser.new_context(color_scheme=scheme, viewport=size)  # type: ignore[arg-type]
    page = open_site(context, address, "#a=The+old+bank.&lesson=masked-words&lesson_step=3")
    guide = guide_of(page)
    guide.get_by_role("radio").first.check()
    guide.get_by_role("button", name="Check").click()
    expect(guide.locator(".verdict")).to_contain_text("The model")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = guide.bounding_box()
    assert box is not None
    assert width == 360 or box["width"] < 340
    context.close()
