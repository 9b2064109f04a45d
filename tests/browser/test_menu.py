"""The menu: seven pages and the checkpoint in view, and *More tools* by keyboard and by link."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from app.navigation import DOOR, GROUPS, PAGES
from tests.support.browser.visit import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def _in_view(visit: Visit) -> list[str]:
    """Return the pages whose entries are in the window."""
    entries = {page.name: visit.entry(page.name) for page in PAGES.values()}
    return [name for name, entry in entries.items() if _is_inside(entry)]


def _is_inside(element: Locator) -> bool:
    return element.evaluate(
        """async element => (await new Promise(seen =>
          new IntersectionObserver(found => seen(found[0])).observe(element))).isIntersecting"""
    )


def test_seven_pages_at_first_and_the_rest_by_key_or_by_link(visit: Visit) -> None:
    page = visit.page
    visit.open("tokens")
    first = [PAGES[folder].name for folder in (DOOR, *GROUPS[""])]
    more = page.locator(".more-tools summary")
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        assert _in_view(visit) == first
        assert _is_inside(page.locator(".stSidebar .st-key-checkpoint"))
    expect(visit.entry("tokens")).to_have_attribute("aria-current", "page")

    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_text("Fewer tools", use_inner_text=True)
    expect(visit.entry("heads")).to_have_accessible_name(
        "Heads What is each attention head good at?"
    )
    visit.go_to("heads")
    expect(visit.entry("heads")).to_have_attribute("aria-current", "page")
    visit.go_to("attention")
    expect(visit.entry("heads")).to_be_visible()  # it was left open
    more.click()
    expect(visit.entry("heads")).to_be_hidden()
    visit.go_to("tokens")
    expect(visit.entry("heads")).to_be_hidden()

    visit.open("training")  # at the end of the list, which is longer than the window
    expect(visit.entry("training")).to_have_attribute("aria-current", "page")
    assert _is_inside(visit.entry("training"))


_SMALL = """least => [...document.querySelectorAll(".stApp :is(button, a, summary)")]
  .filter(part => part.checkVisibility() && getComputedStyle(part).display !== "inline")
  .map(part => [part.ariaLabel ?? part.innerText, part.getBoundingClientRect()])
  .filter(([, box]) => Math.min(box.width, box.height) < least - 0.5 && box.width > 1)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
"""What is smaller than a finger needs; a box's own button, as wide as Streamlit has it, is not."""


@pytest.mark.parametrize("browser_name", [None, "Mozilla/5.0 (Android 14) Mobile"])
def test_the_drawer_of_a_phone_closes_after_a_choice_and_that_of_a_lesson_is_in_view(
    new_visit: Callable[..., Visit], browser_name: str | None
) -> None:
    """Streamlit knows a phone by what its browser calls itself, and so not a small window."""
    size = {"width": 390, "height": 844}
    visit = new_visit(viewport=size, has_touch=True, is_mobile=True, user_agent=browser_name)
    page, drawer = visit.page, visit.page.get_by_test_id("stSidebar")
    visit.open("lessons")
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(drawer).to_have_attribute("data-collapsed", "false")
    drawer.evaluate("it => Promise.all(it.getAnimations().map(motion => motion.finished))")
    assert [one for one in page.evaluate(_SMALL, 40) if not one.startswith("Open: 32")] == []
    visit.go_to(DOOR)
    expect(drawer).to_have_attribute("data-collapsed", "true")
    page.get_by_role("link", name="Take lesson 1").tap()
    expect(page.locator(".st-key-lesson_guide")).to_be_in_viewport()
    visit.check()


def test_choices_are_kept_for_the_next_visit(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(locale="en-GB")
    page = visit.page
    visit.open("tokens")
    page.locator(".more-tools summary").click()
    page.get_by_role("radio", name="Русский").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Токены и эмбеддинги")
    visit.settle()  # the choice is kept at the end of the page
    page.goto(f"{visit.url}/attention")
    expect(heading).to_have_text("Внимание")
    expect(visit.entry("heads")).to_be_visible()
    page.goto(visit.url, wait_until="commit")
    expect(page.get_by_role("region", name="Догадки")).to_be_visible()

    visit.open("attention", show="tokens,attention", lesson_language="en")
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(3)
    visit.settle()
    visit.open("tokens")
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(3)
    page.get_by_role("button", name="Show the whole app").click()
    expect(visit.entry("heads")).to_be_attached()
    visit.open("tokens")
    expect(visit.entry("heads")).to_be_attached()


def test_a_link_for_a_class_shows_what_it_names_on_every_page(visit: Visit) -> None:
    page = visit.page
    visit.open("attention", show="tokens,attention,attention-map", hide="checkpoint")
    entries = page.get_by_test_id("stSidebarNavLink")
    expect(entries).to_have_count(3)  # and the name of the app
    expect(page.locator(".more-tools")).to_be_hidden()
    expect(page.locator(".stSidebar .st-key-checkpoint")).to_be_hidden()
    visit.go_to("tokens")
    visit.wait_for_query("show", "tokens,attention,attention-map")
    expect(page.locator(".st-key-next_page a")).to_contain_text("Next: Attention")

    visit.open("bias", show="tokens")
    expect(page.get_by_text("The link that you opened hides this page.")).to_be_visible()
    page.locator(".st-key-next_page a").click()
    visit.arrive("tokens")
    visit.check()


def test_a_teacher_makes_a_link_and_tries_it(visit: Visit) -> None:
    page = visit.page
    visit.open("tokens")
    page.locator(".more-tools summary").click()
    page.locator('[data-testid="stSidebarNavLink"][href$="/class-link"]').click()
    visit.arrive("lessons")
    page.locator(".st-key-link_pages input").fill("Heads")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    made = page.get_by_test_id("stCode")
    expect(made).to_have_text(f"{visit.url}/heads?show=heads")
    with visit.context.expect_page() as opened:
        page.get_by_role("link", name="Try it").click()
    visit.page = opened.value
    visit.arrive("heads")
    expect(visit.page.get_by_test_id("stSidebarNavLink")).to_have_count(2)
