"""Every page by axe-core, in light and in dark, and by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support.browser.visit import FIRST, TITLES, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STREAMLITS_OWN = {
    "list": '[data-testid="stSidebarNavItems"]',  # groups of pages stand between list and items
    "listitem": '[data-testid="stSidebarNavItems"] li',
    "color-contrast": '[data-testid="stCode"] .token',  # its colours of code, which come late
}
"""Violations inside Streamlit's widgets: rule -> selector of the elements; all others are ours."""
ALL_RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""axe's default rules, and one that it counts as experimental."""
START = "Start a run"
"""The form of Training, which opens on a replay."""
COLOURS = {"runOnly": ["color-contrast"]}
"""In dark the elements are those of light; only their colours differ."""


@pytest.mark.parametrize(("scheme", "options"), [("light", ALL_RULES), ("dark", COLOURS)])
def test_no_page_violates_a_rule_of_axe(
    new_visit: Callable[..., Visit], scheme: str, options: dict[str, Any]
) -> None:
    visit = new_visit(color_scheme=scheme, reduced_motion="reduce")
    visit.open()
    ours, seen = [], set()
    for name in (*TITLES, START):
        if name == START:
            visit.go_to("training")
            visit.page.get_by_role("radio", name=START).click()
            expect(visit.page.get_by_role("button", name="Start training")).to_be_visible()
        elif name != FIRST:
            visit.go_to(name)
        visit.settle()
        for rule, selector, html in violations(visit.page, options):
            allowed = STREAMLITS_OWN.get(rule)
            if allowed is not None and matches(visit.page, selector, allowed):
                seen.add(rule)
            else:
                ours.append(f"{name}: {rule}: {html}")
    assert ours == []
    if scheme == "light":
        assert seen >= {"list", "listitem"}, "Streamlit mended a violation: take it off the list"


def violations(page: Page, options: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """Return what axe finds: rule, selector (a list of selectors inside shadow roots), HTML."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response
    return [
        (violation["id"], node["target"][0], node["html"][:300])
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def matches(page: Page, selector: str | list[str], wanted: str) -> bool:
    """Tell whether the element of a selector matches another; those in shadow roots are ours."""
    return isinstance(selector, str) and bool(
        page.evaluate(
            "([one, wanted]) => document.querySelector(one).matches(wanted)", [selector, wanted]
        )
    )


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
    visit.settle()

    assert tab_to(page, "application", "BERT on this text")["ring"] >= 2
    keyboard.press("ArrowRight")
    visit.wait_for_query("step", "1")
    keyboard.press("Enter")
    visit.arrive("tokens")

    assert tab_to(page, "option", "went")["ring"] >= 2
    keyboard.press("ArrowRight")
    keyboard.press("Enter")
    visit.wait_for_query("token", "4")

    assert tab_to(page, "a", "Attention")["ring"] >= 2
    keyboard.press("Enter")
    visit.arrive("attention")
    assert tab_to(page, "application", "All heads")["ring"] >= 2
    keyboard.press("End")
    keyboard.press("Enter")
    page.wait_for_url(re.compile(r"[?&]layer=[1-9]"))
    assert tab_to(page, "application", "Attention lines")["ring"] >= 2
    assert tab_to(page, "a", "Checkpoints")["ring"] >= 2  # in the list of pages
    visit.check()


def test_an_objective_opened_by_keyboard_has_the_focus(visit: Visit) -> None:
    page = visit.page
    visit.open("objectives")
    expect(page.locator(".st-key-objectives .row").first).to_be_visible()
    tab_to(page, "button", "Replaced tokens")
    page.keyboard.press("Enter")
    visit.wait_for_query("objective", "replaced-tokens")
    opened = page.locator(".st-key-objectives").get_by_role("group", name="Replaced tokens")
    expect(opened).to_be_focused()
    visit.check()
    expect(opened).to_be_focused()
