"""Every page by axe-core, in light and in dark, and by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.browser.visit import TITLES, Visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STREAMLITS_OWN = {
    "list": '[data-testid="stSidebarNavItems"]',  # groups of pages stand between list and items
    "listitem": '[data-testid="stSidebarNavItems"] li',
    "color-contrast": '[data-testid="stCode"] .token',  # its colours of code
}
"""Violations inside Streamlit's widgets: rule -> selector of the elements; all others are ours."""
ALL_RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""axe's default rules, and one that it counts as experimental."""
COLOURS = {"runOnly": ["color-contrast"]}
"""In dark the elements are those of light; only their colours differ."""


@pytest.mark.parametrize(("scheme", "options"), [("light", ALL_RULES), ("dark", COLOURS)])
def test_no_page_violates_a_rule_of_axe(
    new_visit: Callable[..., Visit], scheme: str, options: dict[str, Any]
) -> None:
    visit = new_visit(color_scheme=scheme, reduced_motion="reduce")
    visit.open()
    ours, seen = [], set()
    for name in TITLES:
        visit.go_to(name)
        for rule, selector, html in violations(visit.page, options):
            allowed = STREAMLITS_OWN.get(rule)
            if allowed is not None and matches(visit.page, selector, allowed):
                seen.add(rule)
            else:
                ours.append(f"{name}: {rule}: {html}")
    assert ours == []
    if scheme == "light":
        assert seen == {*STREAMLITS_OWN}, "Streamlit mended a violation: take it off the list"


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
