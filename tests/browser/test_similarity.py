"""A visitor clicks a pair of similar sentences and sees its words; the link shows the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

A, B = "The river bank was steep.", "He went to the bank."


def test_a_clicked_cell_shows_its_words(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open(
        "sentence-pairs", several="1", text_a=A, text_b=B, sentences="The dog sat.\nThe cat ran."
    )
    figure = visit.picture("figure_similar-map")
    figure.locator(".scatterlayer .point").nth(2 * 4 + 3).click(force=True)
    visit.wait_for_query("similar_a", "2")
    visit.wait_for_query("similar_b", "3")
    visit.settle()

    def is_chosen(tab: Visit) -> None:
        for word in ("dog", "sat", "cat", "ran"):
            words = tab.picture("figure_similar-words")
            expect(words.get_by_text(word).first).to_be_visible()
        tab.picture("figure_similar-pairs")
        tab.check()

    is_chosen(visit)
    other = new_visit()
    other.follow(visit.page.url, "sentence-pairs")
    is_chosen(other)
