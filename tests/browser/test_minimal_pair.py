"""A visitor compares two versions of a text, opens a head, and hands the view on as a link."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import TEXT_B, Visit

pytestmark = pytest.mark.browser

FIRST = "the man went to the [MASK] ."
SECOND = "the woman went not to the [MASK] ."
FIGURES = ("words", "next-sentence", "attention", "heads", "vectors")


def shown_map(tab: Visit) -> str:
    """Return the pixels of the map of differences."""
    figure = tab.picture("figure_minimal-pair-attention")
    image = figure.locator(".heatmaplayer image").first
    pixels: str = image.evaluate("image => image.href.baseVal")
    assert pixels.startswith("data:image/png")
    return pixels


def test_versions_are_compared_and_linked(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("minimal-pair", text_a=FIRST, text_b=TEXT_B, other_a=SECOND)
    visit.page.get_by_text("What does each token attend to?").click()
    for name in FIGURES:
        visit.picture(f"figure_minimal-pair-{name}")
    strip = visit.page.get_by_role("group", name="The tokens of both versions, aligned")
    expect(strip.get_by_text("woman", exact=True)).to_be_visible()
    expect(strip.get_by_title("no token here")).to_have_count(1)
    before = shown_map(visit)
    visit.settle()
    layer, head = "0", "1"
    heads = visit.picture("figure_minimal-pair-heads")
    heads.locator(".scatterlayer .point").nth(1).click(force=True)
    expect(visit.page.get_by_role("combobox", name="Head")).to_have_value(head)
    expect(visit.page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    visit.check()
    opened = shown_map(visit)
    assert opened != before
    other = new_visit()
    other.follow(visit.page.url, "minimal-pair")
    assert shown_map(other) == opened
    expect(other.page.get_by_role("combobox", name="Head")).to_have_value(head)
    expect(other.page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    other.page.get_by_role("button", name="Swap versions").click()
    other.wait_for_query("text_a", SECOND)
    other.check()
    assert shown_map(other) not in (opened, before)
