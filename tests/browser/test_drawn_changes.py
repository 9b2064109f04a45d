"""The switches of heads and the drawn mask alone in a real Chromium: by keyboard and pointer."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab

pytestmark = pytest.mark.browser

MODIFIED = """key => {
  const root = document.getElementById("place").shadowRoot;
  const event = new KeyboardEvent("keydown", {
    key, altKey: true, bubbles: true, composed: true, cancelable: true });
  return (root.activeElement ?? root).dispatchEvent(event);
}"""
"""Press a key with Alt where the focus is; tells whether the browser may act on it."""


def focused(page: Page) -> str:
    found = page.evaluate(
        "document.getElementById('place').shadowRoot.activeElement?.getAttribute('aria-label')"
    )
    return str(found)


def test_layers_are_switched_by_keyboard(tab: Tab) -> None:
    page = tab.show(bare_view.head_switches_view(2, 3))
    press = page.keyboard.press
    status = page.locator(".status")
    page.get_by_role("switch", name="Layer 0 head 0", exact=True).focus()
    press("ArrowDown")
    press("ArrowLeft")
    assert focused(page) == "All heads of layer 1"
    press("Enter")
    assert page.evaluate("window.reports.switched.off") == ["1.0", "1.1", "1.2"]
    expect(status).to_contain_text("Layer 1 has 0 of 3 heads on")
    for _ in range(6):
        press("ArrowRight")
    assert focused(page) == "Skip layer 1 whole"
    press("Space")
    assert page.evaluate("window.reports.switched.skipped") == [1]
    expect(status).to_contain_text("Layer 1 is skipped")
    # One stop of Tab, where the arrows were.
    assert page.locator(".grid button[tabindex='0']").count() == 1
    press("Shift+Tab")
    assert "layer" not in focused(page).lower()
    press("Tab")
    assert focused(page) == "Skip layer 1 whole"
    assert page.evaluate(MODIFIED, "ArrowLeft")
    assert focused(page) == "Skip layer 1 whole"
    # A click takes the keyboard along.
    page.get_by_role("button", name="All heads of layer 0").click(modifiers=["Shift"])
    assert page.evaluate("window.reports.switched.off") == ["1.0", "1.1", "1.2"]
    press("ArrowRight")
    assert focused(page).startswith("Layer 0 head 0")
