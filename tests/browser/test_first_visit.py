"""A visitor who has typed nothing: every page shows something, and leads to the next."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.navigation import PAGES
from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

ORDER = [page.name for page in PAGES.values()]
PICTURES = (
    "canvas, svg.main-svg, table, [data-testid='stDataFrame'], [data-testid='stMetric'], "
    ".row .token, .panel svg"
)
"""What is drawn from numbers; boxes with words are none."""


def test_every_page_opens_with_a_picture_and_offers_the_next(visit: Visit) -> None:
    visit.open(ORDER[0])
    main = visit.page.get_by_test_id("stMain")
    for name, following in zip(ORDER, (*ORDER[1:], None), strict=True):
        expect(main.locator(PICTURES).locator("visible=true").first, name).to_be_visible()
        for kind in ("Error", "Warning"):
            expect(main.get_by_test_id(f"stAlertContent{kind}"), name).to_have_count(0)
        visit.check()
        if following is None:
            expect(visit.page.locator(".st-key-next_page")).to_have_count(0)
        else:
            visit.page.locator(".st-key-next_page a").click()
            visit.arrive(following)


@pytest.mark.parametrize("name", [ORDER[len(ORDER) // 2], ORDER[-1]])
def test_a_page_opens_by_its_address(visit: Visit, name: str) -> None:
    visit.open(name)
    main = visit.page.get_by_test_id("stMain")
    expect(main.locator(PICTURES).locator("visible=true").first).to_be_visible()
    visit.check()
