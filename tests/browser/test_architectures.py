"""BERT, GPT, ELMo in a browser: tokens clicked, vectors pointed at, masks filled step by step."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

TEXT = "The man went to the river bank and was steep"


def test_a_token_is_guessed_by_three_networks(
    visit: Visit, new_visit: Callable[..., Visit]
) -> None:
    visit.open("architectures", text_a=TEXT)
    panels = visit.page.locator(".st-key-architectures .panel")
    expect(panels).to_have_count(3)
    bert, gpt = panels.nth(0), panels.nth(1)
    gpt.locator(".token", has_text="river").click()
    visit.wait_for_query("word", "6")
    expect(bert.locator(".token.hidden")).to_contain_text("[MASK]")
    expect(bert.locator(".status")).to_have_text(
        "The guess sees 6 tokens to the left and 5 to the right."
    )
    expect(gpt.locator(".status")).to_have_text(
        "The guess sees 6 tokens to the left and 0 to the right."
    )
    expect(bert.locator(".truth")).to_contain_text("river")
    svg = bert.locator("svg")
    svg.focus()
    visit.page.keyboard.press("ArrowLeft")
    expect(bert.locator(".status")).to_have_text(re.compile(r"^Layer \d+, \[MASK\] reads .+%"))
    visit.page.keyboard.press("Escape")
    expect(bert.locator(".status")).to_have_text(re.compile("^The guess sees"))
    box = svg.bounding_box()
    assert box is not None
    svg.hover(position={"x": box["width"] * 226 / 300, "y": box["height"] / 4})
    expect(bert.locator(".status")).to_have_text(re.compile(r"^Layer \d+, \w+ reads .+%"))
    visit.check()
    other = new_visit()
    other.follow(visit.page.url, "architectures")
    expect(other.page.locator(".panel .truth").first).to_contain_text("river")
    other.check()


def test_masks_are_filled_step_by_step(visit: Visit) -> None:
    visit.open("architectures", text_a=TEXT, architectures_view="Let it write", written_tokens="3")
    writing = visit.page.locator(".st-key-writing")
    bert = writing.locator("section").last
    expect(writing.locator("output")).to_have_text("step 3 of 3")
    expect(bert.locator(".chip.open")).to_have_count(0)
    writing.get_by_role("button", name="Step back").click()
    writing.get_by_role("button", name="Step back").click()
    expect(writing.locator("output")).to_have_text("step 1 of 3")
    expect(bert.locator(".chip.open")).to_have_count(2)
    expect(bert.locator(".chip.new")).to_have_count(1)
    expect(bert.locator(".chip .read").first).to_be_attached()
    writing.get_by_role("button", name="Next step").click()
    expect(bert.locator(".chip.open")).to_have_count(1)
    writing.get_by_role("button", name="Play").click()
    expect(bert.locator(".chip.open")).to_have_count(0)
    expect(writing.get_by_role("button", name="Play")).to_be_visible()
    visit.check()
