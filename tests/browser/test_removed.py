"""Links to pages that were removed: the page that took over opens, with one sentence."""

import pytest
from playwright.sync_api import expect

from app.navigation import PAGES, REMOVED, REMOVED_VIEWS
from tests.support.browser.visit import Visit


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_address_opens_the_page_that_took_over(visit: Visit, name: str) -> None:
    heir, _ = REMOVED[name]
    visit.page.goto(f"{visit.url}/{name}?text_a=He+sat+on+the+bank.&corpus_view=senses&layer=3")
    expect(visit.page.get_by_role("heading", name=PAGES[heir].title, level=1)).to_be_visible()
    expect(visit.page.get_by_text("was removed in 0.3.0")).to_be_visible()
    visit.settle()
    visit.wait_for_query("text_a", "He sat on the bank.")  # also where no box shows it
    assert f"/{PAGES[heir].name}" in visit.page.url
    for field, value in REMOVED_VIEWS.get(name, {}).items():
        visit.wait_for_query(field, value)
