"""Inside a layer in a browser: a head is opened, numbers on hover, a token followed."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

TEXT = "The river [MASK] was steep."


def opened(visit: Visit, **query: str) -> Locator:
    """Open the page; return the drawing of the layer."""
    visit.open("inside-layer", **{"text_a": TEXT, **query})
    drawing = visit.page.locator(".st-key-layer_drawing .layer")
    expect(drawing.locator("canvas").first).to_be_visible()
    return drawing


def test_a_head_opens_and_closes_by_keyboard(visit: Visit) -> None:
    drawing = opened(visit)
    expect(drawing.locator(".steps")).to_have_count(1)
    heads = drawing.locator(".opener")
    closed = (
        heads.nth(0) if heads.nth(0).get_attribute("aria-expanded") == "false" else heads.nth(1)
    )
    name = closed.inner_text().split()[-1]
    closed.focus()
    visit.page.keyboard.press("Enter")
    steps = drawing.locator(".steps")
    expect(steps).to_have_count(1)
    expect(steps).to_contain_text(f"what head {name} writes")
    expect(steps.locator("canvas")).to_have_count(14)  # query, six keys and values, mix
    expect(drawing.locator(".opener:focus")).to_contain_text(f"head {name}")
    visit.page.keyboard.press("Enter")
    expect(steps).to_have_count(0)
    visit.check()


def test_a_strip_tells_its_numbers(visit: Visit) -> None:
    drawing = opened(visit)
    strip = drawing.locator("canvas.state").first
    strip.hover(position={"x": 3, "y": 5})
    tip = drawing.locator(".tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(re.compile(r"^dimensions 0 to \d+: mean "))
    expect(strip).to_have_attribute("aria-label", re.compile("Vector so far: .* numbers"))
    visit.page.mouse.move(2, 2)
    expect(tip).to_be_hidden()


def test_a_token_of_all_is_followed(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("inside-layer", text_a=TEXT, layer_view="all")
    tokens = visit.page.locator(".st-key-layer_all .token")
    expect(tokens.filter(has_text="steep")).to_be_visible()
    tokens.filter(has_text="steep").click()
    visit.wait_for_query("layer_token", "5")
    expect(visit.page.locator(".st-key-layer_drawing .sheet")).to_be_visible()
    expect(visit.token("layer_strip", "steep")).to_have_attribute("aria-selected", "true")
    visit.check()
    other = new_visit()
    other.follow(visit.page.url, "inside-layer")
    expect(other.token("layer_strip", "steep")).to_have_attribute("aria-selected", "true")
    other.check()
