"""The page "How tokens mix" in a browser: strips, a chosen token, all maps, a link, slow jobs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser.visit import TEXT_A, TEXT_B, TIMEOUT_MS, Visit

pytestmark = pytest.mark.browser

STRIPS, MAPS = "figure_mixing", "figure_mixing-maps"
HOSTILE = "</script><img src=x onerror=window.__pwned=1> <b onmouseover=window.__pwned=1>x</b>"


def strips(visit: Visit) -> Locator:
    """Return the picture of the strips when none of them is awaited any more."""
    figure = visit.picture(STRIPS)
    expect(visit.page.get_by_test_id("stProgress")).to_have_count(0, timeout=4 * TIMEOUT_MS)
    expect(figure.locator(".heatmaplayer image")).to_have_count(2)
    visit.settle()
    return figure


def test_a_token_is_chosen_and_linked(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("mixing", text_a=TEXT_A, text_b=TEXT_B)
    expect(strips(visit)).to_contain_text("Value zeroing rolled out")
    visit.token("mix_strip", "river").click()
    visit.wait_for_query("mix_token", "6")
    asked = "Where does “river” get its information?"
    expect(visit.page.get_by_role("heading", name=asked)).to_be_visible()
    strips(visit)
    visit.page.get_by_role("radio", name="Every token").click()
    visit.wait_for_query("mix_view", "all")
    expect(visit.picture(MAPS).locator(".heatmaplayer image")).to_have_count(8)
    visit.picture("figure_mixing-agreement")
    visit.picture("figure_mixing-sep")
    visit.check()
    other = new_visit()
    other.follow(visit.page.url, "mixing")
    expect(other.picture(MAPS).locator(".heatmaplayer image")).to_have_count(8)
    expect(other.box("A")).to_have_value(TEXT_A)  # also after the page was drawn again for a job
    other.page.get_by_role("radio", name="One token").click()
    expect(other.page.get_by_role("heading", name=asked)).to_be_visible()
    other.check()


@pytest.mark.exhaustive
def test_hovering_shows_hostile_tokens_as_text(visit: Visit) -> None:
    visit.open("mixing", text_a=HOSTILE, text_b=TEXT_B)
    figure = strips(visit)
    # It stands above and moves the figure.
    expect(visit.page.locator(".st-key-mix_strip .words button").first).to_be_visible()
    hover = figure.locator(".hoverlayer .hovertext")
    for place in (0.1, 0.3, 0.5):
        box = figure.locator(".heatmaplayer image").first.bounding_box()
        assert box is not None
        visit.page.mouse.move(box["x"] + place * box["width"], box["y"] + 8)
        expect(hover.first).to_contain_text("Attention weights")
    visit.check()
    assert not visit.was_tricked()


@pytest.mark.exhaustive
def test_a_long_text_has_every_strip_and_the_quick_maps(visit: Visit) -> None:
    visit.open("mixing", text_a="river bank " * 130, text_b=TEXT_B, mix_slow="1")
    expect(strips(visit)).to_contain_text("Value zeroing rolled out")
    chosen = visit.page.locator(".st-key-mix_strip .words [aria-selected=true]")
    inside = """token => {
      const box = token.closest(".words").getBoundingClientRect();
      const place = token.getBoundingClientRect();
      return place.top >= box.top && place.bottom <= box.bottom && box.height < 600;
    }"""
    assert chosen.evaluate(inside)  # the last word of A, far below the first lines
    visit.check()
    visit.page.get_by_role("radio", name="Every token").click()
    maps = visit.page.locator(".js-plotly-plot .heatmaplayer image")
    expect(maps.nth(4)).to_be_attached()  # a map for each measure that does not take long
    visit.page.get_by_text("Compute value zeroing").click()  # off: it would take minutes
    expect(visit.picture(MAPS).locator(".heatmaplayer image")).to_have_count(5)
    visit.check()
