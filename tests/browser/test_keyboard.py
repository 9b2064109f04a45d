"""The app by keyboard alone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.support.browser.visit import Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_FOCUS = """() => {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  const style = getComputedStyle(found);
  return {
    role: found.getAttribute("role") ?? found.tagName.toLowerCase(),
    name: found.getAttribute("aria-label") ?? found.innerText,
    ring: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
  };
}"""


def tab_to(page: Page, role: str, name: str) -> dict[str, Any]:
    """Press Tab until an element of this role, whose name holds `name`, has the focus."""
    for _ in range(100):
        page.keyboard.press("Tab")
        focus: dict[str, Any] = page.evaluate(_FOCUS)
        if focus["role"] == role and name in focus["name"]:
            return focus
    raise AssertionError(f"no {role} {name!r} is reached by Tab")


def test_text_pages_and_canvases_are_used_by_keyboard_alone(visit: Visit) -> None:
    page, keyboard = visit.page, visit.page.keyboard
    visit.open()
    tab_to(page, "textarea", "Sentence A")
    keyboard.press("Control+A")
    keyboard.type("The man went to the river")
    visit.wait_for_query("text_a", "The man went to the river")
    tab_to(page, "textarea", "Sentence B")
    keyboard.press("Control+A")
    keyboard.press("Delete")
    visit.wait_for_query("text_b", None)
    visit.settle()

    assert tab_to(page, "application", "BERT on this text")["ring"] >= 2
    for step in ("1", "2"):  # why words are hidden, and how the text is cut
        keyboard.press("ArrowRight")
        visit.wait_for_query("step", step)
    keyboard.press("Enter")
    visit.arrive("tokens")

    assert tab_to(page, "option", "[MASK]")["ring"] >= 2  # the hidden word, which is followed
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    visit.wait_for_query("token", "4")

    assert tab_to(page, "a", "Attention")["ring"] >= 2
    keyboard.press("Enter")
    visit.arrive("attention")
    tab_to(page, "summary", "What do the other heads do?")
    keyboard.press("Enter")
    assert tab_to(page, "application", "All heads")["ring"] >= 2
    keyboard.press("End")
    keyboard.press("Enter")
    page.wait_for_url(re.compile(r"[?&]layer=[1-9]"))
    assert tab_to(page, "application", "Attention lines")["ring"] >= 2
    assert tab_to(page, "a", "Inspect")["ring"] >= 2  # in the list of pages
    visit.check()
