"""What a visitor does not see is not computed at an edit, and is there when it comes into view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser.visit import TEXT_A, Visit

pytestmark = pytest.mark.browser

AWAY = "computed when it comes into view"
RANKS, MASKING = ".st-key-section_ranks", ".st-key-section_masking"
OTHER = "the woman went to the man"


def note_in(section: Locator) -> Locator:
    return section.get_by_text(AWAY)


def test_an_edit_computes_what_is_in_the_window(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(viewport={"width": 1280, "height": 700})
    visit.open("masked-words", text_a=TEXT_A, lens="Whole sentence", share="40")
    masking = visit.page.locator(MASKING)
    expect(masking.locator(".js-plotly-plot")).to_be_attached()  # all of it, at first
    expect(note_in(visit.page.locator("body"))).to_have_count(0)
    visit.box("A").focus()
    visit.page.wait_for_timeout(1500)  # it reports what is out of the window
    main = visit.page.get_by_test_id("stMain")
    before = main.evaluate("main => main.scrollHeight"), masking.evaluate("s => s.offsetHeight")
    visit.write(OTHER)
    expect(note_in(masking)).to_be_attached()
    expect(masking.locator(".js-plotly-plot")).to_have_count(0)  # no other text's picture
    expect(masking.get_by_role("heading")).to_be_attached()
    assert masking.evaluate("s => s.offsetHeight") == before[1]
    assert abs(main.evaluate("main => main.scrollHeight") - before[0]) < 60
    visit.wait_for_query("lens", "Whole sentence")  # a link still has the choices of all of it
    visit.wait_for_query("share", "40")
    masking.scroll_into_view_if_needed()
    expect(masking.locator(".js-plotly-plot")).to_be_visible()
    expect(note_in(masking)).to_have_count(0)
    expect(masking.get_by_text(f"of its {len(OTHER.split()) + 2} tokens")).to_be_visible()
    visit.check()

    visit.box("A").focus()
    visit.page.wait_for_timeout(1500)
    visit.write(TEXT_A)
    expect(note_in(masking)).to_be_attached()
    visit.page.keyboard.press("Control+f")
    expect(note_in(visit.page.locator("body"))).to_have_count(0)
    visit.go_to("sentence-pairs")
    expect(visit.page.locator(".st-key-section_several").get_by_role("textbox")).to_be_attached()
    visit.check()
