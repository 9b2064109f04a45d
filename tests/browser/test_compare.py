"""A visitor compares the checkpoint with an untrained one, opens a head, and hands on the link."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import TEXT_B, Visit

pytestmark = pytest.mark.browser

FIRST = "the man went to the [MASK] ."


def view(tab: Visit, name: str) -> None:
    tab.page.get_by_role("radio", name=name).click()
    tab.settle()


def test_a_head_is_opened_and_linked(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("compare", text_a=FIRST, text_b=TEXT_B)
    for name in ("answers", "layers"):
        visit.picture(f"figure_compare-{name}")
    view(visit, "Heads")
    grid = visit.picture("figure_compare-heads")
    for which in ("first", "second"):
        visit.inked(f".st-key-compare_map_{which}")
    # The transparent points over the cells are what can be clicked.
    grid.locator(".scatterlayer .points path").nth(2).click(force=True)
    visit.wait_for_query("compare_head", "0.2")
    expect(visit.page.get_by_role("heading", name="Layer 0 head 2 in both")).to_be_visible()
    visit.inked(".st-key-compare_map_second")
    visit.check()
    other = new_visit()
    other.follow(visit.page.url, "compare")
    expect(other.page.get_by_role("heading", name="Layer 0 head 2 in both")).to_be_visible()
    # In a map another head is chosen: both maps follow.
    other.page.locator(".st-key-compare_map_first .heads").last.get_by_text("1", exact=True).click()
    other.wait_for_query("compare_head", "0.1")
    expect(other.page.get_by_role("heading", name="Layer 0 head 1 in both")).to_be_visible()
    other.check()
    view(other, "Weights")
    other.picture("figure_compare-weights").hover()
    other.picture("figure_compare-others")
    view(other, "Layers over many texts")
    for name in ("cka", "cka-diagonal"):
        other.picture(f"figure_compare-{name}")
    other.check()
