"""The door: seen at once, live while one types, by keyboard, by touch, without storage."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import new_context
from tests.support.browser.running import running_app
from tests.support.browser.visit import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST = "#first-door"
MOST_MS = 1000
"""Until the door is painted, with a core for it."""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
_PLACES = """root => [...root.querySelectorAll('h1, header p, .words, textarea, ol, .by, nav a')]
  .map(part => part.getBoundingClientRect()).map(at => [at.x, at.y, at.width, at.height])"""
_STILL_FIRST = f"document.querySelector('{FIRST}').shadowRoot"
_LIVE = "[...document.querySelectorAll('.st-key-door *')].find(part => part.shadowRoot).shadowRoot"
_NAMED = "h1, [role=toolbar], button, textarea, section, a"
_NAMES = f"""() => [...({_LIVE}).querySelectorAll('{_NAMED}')]
  .map(part => part.ariaLabel ?? (part.labels?.[0] ?? part).innerText.split('\\n')[0])"""


def words(visit: Visit) -> str:
    """The text as it is seen, with gaps."""
    shown = visit.page.locator(".st-key-door .words").inner_text()
    return re.sub("\\xa0+", "_", shown)


def guesses(page: Page) -> list[str]:
    return page.locator(".st-key-door li b").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_painted_before_python_answers_and_stays_where_it_is(
    browser: Browser, tmp_path: Path, scheme: Any
) -> None:
    with running_app() as fresh:
        page = new_context(browser, color_scheme=scheme).new_page()
        visit = Visit(page, fresh.url)
        page.goto(fresh.url, wait_until="commit")
        expect(page.get_by_role("heading", name="BertScope")).to_be_visible()
        assert page.locator(FIRST).count() == 1
        waiting = max(1, os.getloadavg()[0] / (os.cpu_count() or 1))  # for one core
        page.wait_for_function(_PAINT)  # it is noted a moment after it is seen
        assert page.evaluate(_PAINT) < MOST_MS * waiting
        page.evaluate("document.fonts.ready")
        ground = page.locator(FIRST).evaluate("part => getComputedStyle(part).backgroundColor")
        before = page.evaluate(f"({_PLACES})({_STILL_FIRST})")
        page.get_by_role("textbox").press("End")
        page.keyboard.type(" Then he ")
        expect(page.locator(FIRST)).to_have_count(0)
        page.keyboard.type("sat.")
        visit.wait_for_query("text_a", "He opened the door and went in. Then he sat.")
        visit.settle()
        assert words(visit) == "He opened the _ and went in. Then he sat."
        assert page.evaluate(f"({_PLACES})({_LIVE})") == before
        app = page.get_by_test_id("stApp")
        assert app.evaluate("part => getComputedStyle(part).backgroundColor") == ground
        visit.check_complaints()
        page.context.close()


def test_guesses_follow_what_is_typed_and_hidden(visit: Visit) -> None:
    visit.open("door")
    page = visit.page
    assert guesses(page)[0] == "door"
    page.get_by_role("textbox").fill("Then she opened the door and went out.")
    visit.wait_for_query("text_a", "Then she opened the door and went out.")
    visit.settle()
    assert words(visit) == "Then she opened the _ and went out."
    page.get_by_role("button", name="out", exact=True).click()
    expect(page.locator(".st-key-door section")).to_have_count(2)
    page.get_by_role("button", name="door", exact=True, pressed=True).click()
    expect(page.locator(".st-key-door section")).to_have_count(1)
    visit.settle()
    assert words(visit) == "Then she opened the door and went _."
    page.reload()
    visit.arrive("door")
    assert words(visit) == "Then she opened the door and went _."
    visit.check()


@pytest.mark.parametrize(
    ("way", "name", "query"),
    [("Look inside", "glance", "masked"), ("Inspect my model", "inspect", None)],
)
def test_a_way_leads_on_with_the_text(visit: Visit, way: str, name: str, query: str | None) -> None:
    visit.open("door")
    visit.page.locator(".st-key-door").get_by_role("link", name=way).click()
    visit.arrive(name)
    if query:
        visit.wait_for_query(query, "4")
        visit.wait_for_query("text_a", "He opened the door and went in.")
        for step in ("1", "2"):
            visit.page.get_by_role("button", name="Next", exact=True).click()
            visit.wait_for_query("step", step)
    visit.check()
    visit.page.go_back()
    visit.arrive("door")
    expect(visit.page.get_by_role("textbox")).to_have_value("He opened the door and went in.")
    visit.page.go_back()
    expect(visit.page).to_have_url("about:blank")


def test_its_names_are_read_in_order_and_no_rule_is_violated(
    new_visit: Callable[..., Visit],
) -> None:
    for options in ({"color_scheme": "light"}, {"color_scheme": "dark"}):
        visit = new_visit(reduced_motion="reduce", **options)
        visit.open("door")
        assert visit.page.evaluate(_NAMES) == [
            "BertScope",
            "BERT",  # opens what it means
            "Click a word to hide it",
            *"He opened the door and went in".split(),
            "Your text:",
            "Guesses",
            "BERT",
            "parameters",
            "Look inside",
            "Take lesson 1",
            "Inspect my model",
        ]
        found = Axe().run(visit.page, options={"resultTypes": ["violations"]}).response
        nodes = [(one["id"], node["html"]) for one in found["violations"] for node in one["nodes"]]
        assert [node for node in nodes if "stSidebar" not in node[1]] == []
        for width in (390, 800, 640):  # the last one is 1280 at 200%
            visit.page.set_viewport_size({"width": width, "height": 900})
            overflow = "part => part.scrollWidth - part.clientWidth"
            assert visit.page.get_by_test_id("stMain").evaluate(overflow) <= 0, width


_CUT = """() => {
  const cut = [], main = document.querySelector('[data-testid=stMain]');
  const isCut = part => {
    const box = part.getBoundingClientRect();
    if (!box.width || (box.right <= innerWidth + 1 && box.left >= -1)) return false;
    for (let at = part.parentElement ?? part.getRootNode().host; at && at !== main;
      at = at.parentElement ?? at.getRootNode().host)
      if (getComputedStyle(at).overflowX !== "visible") return false;  // it is scrolled
    return part.checkVisibility();
  };
  const look = root => root.querySelectorAll("*").forEach(part => {
    if (part.shadowRoot) look(part.shadowRoot);
    if (isCut(part)) cut.push(`${part.tagName}.${part.className}`);
  });
  look(main);
  return [cut, main.scrollWidth - main.clientWidth];
}"""


def test_at_200_percent_nothing_is_cut(new_visit: Callable[..., Visit]) -> None:
    size = {"width": 640, "height": 450}  # 1280 x 900
    visit = new_visit(viewport=size, device_scale_factor=2, reduced_motion="reduce")
    for name in ("door", "glance", "tokens", "attention", "masked-words"):
        visit.open(name)
        assert visit.page.evaluate(_CUT) == [[], 0], name
    visit.open("glance", step="4")
    on = visit.page.get_by_role("button", name="Next", exact=True)
    on.click()
    expect(on).to_be_in_viewport()
    assert visit.page.evaluate(_CUT) == [[], 0]


def test_keyboard_alone(visit: Visit) -> None:
    visit.open("door")
    page = visit.page
    page.get_by_role("button", name="He", exact=True).focus()
    for key in ("End", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    visit.wait_for_query("door", "1")
    visit.settle()
    assert words(visit) == "He opened the _ and _ in."
    expect(page.get_by_role("button", name="went", exact=True)).to_be_focused()
    expect(page.locator(".st-key-door .live-region")).to_contain_text("Gap 1: door")
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox")).to_be_focused()
    for _ in ("BERT", "parameters", "Look inside"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    visit.arrive("glance")


def test_touch_on_a_phone(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit.open("door")
    visit.page.get_by_role("button", name="opened", exact=True).tap()
    visit.wait_for_query("door", "1")
    visit.settle()
    assert words(visit) == "He _ the _ and went in."
    visit.check()


@pytest.mark.parametrize(
    ("address", "page", "kept"),
    [
        ("?text_a=The+river.&masked=2", "glance", ("masked", "2")),
        ("?step=3", "glance", ("step", "3")),
        ("?token=2", "tokens", ("text_a", None)),
        ("door", "door", ("text_a", None)),
    ],
)
def test_a_link_of_before_leads_to_what_was_there(
    visit: Visit, address: str, page: str, kept: tuple[str, str | None]
) -> None:
    visit.follow(f"{visit.url}/{address}", page)
    assert visit.page.locator(FIRST).count() == 0
    visit.wait_for_query(*kept)
    visit.check()


def test_without_storage_and_cookies(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(locale="en-GB")
    visit.page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Storage.prototype.setItem = Storage.prototype.getItem = () => { throw new Error(name) };"
        "delete window.Worker; Object.defineProperty(document, 'cookie',"
        " {get: () => '', set() { throw new Error('cookie') }})"
    )
    visit.page.goto(visit.url, wait_until="commit")
    expect(visit.page.get_by_role("heading", name="BertScope")).to_be_visible()
    visit.page.get_by_role("button", name="in", exact=True).click()
    visit.wait_for_query("masked", "4")
    visit.open("tokens")
    visit.page.locator(".more-tools summary").click()
    expect(visit.entry("heads")).to_be_visible()
    visit.check()


def test_it_goes_if_the_app_does_not_load(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(locale="en-GB")
    visit.page.route(re.compile(r"/static/js/index"), lambda route: route.abort())
    visit.page.goto(visit.url, wait_until="commit")
    expect(visit.page.locator(FIRST)).to_have_count(0)
    visit.complaints.clear()


@pytest.mark.parametrize(("locale", "gap"), [("zh-CN", "猜测"), ("ru-RU", "Догадки")])
def test_it_speaks_the_browsers_language(
    new_visit: Callable[..., Visit], locale: str, gap: str
) -> None:
    visit = new_visit(locale=locale)
    visit.page.goto(visit.url, wait_until="commit")
    expect(visit.page.get_by_role("region", name=gap)).to_be_visible()
    expect(visit.page.locator(FIRST)).to_have_count(0)
    expect(visit.page.get_by_role("region", name=gap)).to_be_visible()


def test_a_text_that_was_changed_on_another_page_is_that_of_the_door(visit: Visit) -> None:
    visit.open("door")
    visit.page.locator(".st-key-door textarea").fill("My dog likes the park.")
    visit.wait_for_query("text_a", "My dog likes the park.")
    visit.page.get_by_role("link", name="Look inside").click()
    visit.arrive("glance")
    visit.write("The cat sat on the mat.")
    visit.go_to("door")
    expect(visit.page.get_by_role("textbox")).to_have_value("The cat sat on the mat.")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_text_ends_at_a_whole_line_and_no_room_is_kept_for_absent_bars(
    new_visit: Callable[..., Visit], width: int
) -> None:
    visit = new_visit(viewport={"width": width, "height": 900})
    visit.open("door")
    text = ("They walked to the old house by the lake and waited there for her. " * 6)[:400]
    visit.page.get_by_role("textbox").fill(text)
    visit.wait_for_query("text_a", text)
    visit.settle()
    expect(visit.page.locator(".st-key-door section")).to_have_count(0)
    cut = visit.page.evaluate(f"""() => {{
      const box = ({_LIVE}).querySelector('.words'), end = box.getBoundingClientRect().bottom;
      return {{
        words: [...box.querySelectorAll('button')].map(word => word.getBoundingClientRect())
          .filter(word => word.top < end - 3 && word.bottom > end + 3).length,
        isScrolled: box.scrollHeight > box.clientHeight,
      }};
    }}""")
    assert cut == {"words": 0, "isScrolled": True}
    lines = visit.page.evaluate(f"""() => {{
      const area = ({_LIVE}).querySelector('textarea'), style = getComputedStyle(area);
      const room = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
      return [room, area.clientHeight / parseFloat(style.lineHeight)];
    }}""")
    assert lines == [0, 5]
    gap = visit.page.evaluate(f"""() => {{
      const [by, way] = ['.by', 'nav'].map(part => ({_LIVE}).querySelector(part));
      return way.getBoundingClientRect().top - by.getBoundingClientRect().bottom;
    }}""")
    assert gap < 40
    visit.check()
