"""A window of 800 pixels: nothing makes the page wider than it is."""

from __future__ import annotations

import pytest

from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

WIDE = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth - main.clientWidth;
}"""
"""Pixels that are out of view."""


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("masked-words", {"text_a": "a" * 1300, "text_b": ""}),
        ("architectures", {"architectures_view": "Side by side"}),
        ("papers", {"papers_view": "From Transformer to BERT"}),
        ("training-example", {}),
        ("minimal-pair", {"text_a": "the dog had rained", "text_b": "", "other_a": "the cat"}),
    ],
)
def test_what_is_wide_stays_within_the_page(visit: Visit, name: str, query: dict[str, str]) -> None:
    visit.page.set_viewport_size({"width": 800, "height": 900})
    visit.open(name, **query)
    assert visit.page.evaluate(WIDE) == 0
    for box in visit.page.locator(".st-key-sentence_box textarea").all():
        found = box.bounding_box()
        assert found is not None
        assert found["width"] < 500
    visit.check()
