"""Narrow windows, a closed sidebar, a touch screen: nothing is out of view or covered."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.test_every_page import FITS
from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

COVERED = """figure => {
  const bar = figure.querySelector(".modebar").getBoundingClientRect();
  return [...figure.querySelectorAll("text")].filter((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    return left < bar.right && right > bar.left && top < bar.bottom && bottom > bar.top;
  }).map((text) => text.textContent);
}"""
"""Names in a figure that its buttons cover."""


WIDE_PAGES: list[tuple[str, dict[str, str]]] = [
    ("masked-words", {"text_a": "a" * 1300, "text_b": ""}),
    ("architectures", {"architectures_view": "Side by side"}),
    ("papers", {"papers_view": "From Transformer to BERT"}),
    ("training-example", {}),
    ("minimal-pair", {"text_a": "the dog had rained", "text_b": "", "other_a": "the cat"}),
]


@pytest.mark.parametrize(("name", "query"), WIDE_PAGES)
def test_what_is_wide_stays_within_the_page(visit: Visit, name: str, query: dict[str, str]) -> None:
    visit.page.set_viewport_size({"width": 800, "height": 900})
    visit.open(name, **query)
    visit.page.wait_for_function(FITS)
    for box in visit.page.locator(".st-key-sentence_box textarea").all():
        found = box.bounding_box()
        assert found is not None
        assert found["width"] < 500
    visit.check()


@pytest.mark.parametrize("width", [412, 1280])
def test_nothing_covers_the_title_where_the_sidebar_is_closed(
    new_visit: Callable[..., Visit], width: int
) -> None:
    visit = new_visit(viewport={"width": width, "height": 900})
    visit.open("masked-words")
    if width == 1280:  # a narrow window opens with a closed one
        visit.page.get_by_test_id("stSidebarHeader").hover()
        visit.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(visit.page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
    bar = visit.page.get_by_test_id("stHeader").bounding_box()
    assert bar is not None
    for seen in (visit.page.get_by_role("heading", level=1), visit.page.get_by_role("combobox")):
        box = seen.first.bounding_box()
        assert box is not None
        assert box["y"] >= bar["y"] + bar["height"]
    visit.check()


def test_the_buttons_of_a_figure_do_not_cover_it_on_a_touch_screen(
    new_visit: Callable[..., Visit],
) -> None:
    visit = new_visit(has_touch=True, is_mobile=True, viewport={"width": 1024, "height": 1300})
    visit.open("sentence-pairs", text_a="The man went", text_b="It had rained")
    figure = visit.picture("figure_next-sentence")
    expect(figure.locator("text", has_text="B is a random text")).to_be_visible()
    assert figure.evaluate(COVERED) == []
    camera = figure.locator(".modebar-btn").first
    with visit.page.expect_download():
        camera.tap()  # which waits until nothing covers it
    visit.check()
