"""Every page in one visit: by a visitor who has typed nothing, and with hostile texts.

A page is loaded once for all that is asked of it, since loading is what takes long.
"""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.navigation import DOOR, PAGES, READING
from tests.support.browser.hostile import MARKUP, SCRIPT, SIGNS
from tests.support.browser.visit import TEXT_PAGES, TIMEOUT_MS, TITLES, Visit
from tests.support.browser.wording import wrong_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ORDER = tuple(name for name in TITLES if name != DOOR)
READ = tuple(PAGES[folder].name for folder in READING)
"""Pages of the menu, and those of them that lead on, in that order."""
PICTURES = (
    "canvas, svg.main-svg, table, [data-testid='stDataFrame'], [data-testid='stMetric'], "
    ".row .token, .panel svg, .example .cell, .st-key-lesson_list button"
)
"""What is drawn from numbers, and the list of lessons; boxes with words are none."""
STREAMLITS_OWN = {
    "list": '[data-testid="stSidebarNavItems"]',  # groups of pages stand between list and items
    "listitem": '[data-testid="stSidebarNavItems"] li',
    "color-contrast": '[data-testid="stCode"] .token',  # its colours of code, which come late
}
"""Violations inside Streamlit's widgets: rule -> selector of the elements; all others are ours."""
ALL_RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""axe's default rules, and one that it counts as experimental."""
FITS = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return main.scrollWidth === main.clientWidth;
}"""
"""Whether nothing of the page is out of view on the right."""
COLOURS = {"runOnly": ["color-contrast"]}
"""In dark the elements are those of light; only their colours differ."""
START = "Start a run"
"""The form of Training, which opens on a replay."""


@pytest.mark.sweep
def test_a_first_visit(new_visit: Callable[..., Visit]) -> None:
    """Each page opens with a picture, is worded whole, violates no rule of axe, fits, leads on."""
    visit = new_visit(color_scheme="light", reduced_motion="reduce")
    visit.open()
    main = visit.page.get_by_test_id("stMain")
    problems = Problems(visit, ALL_RULES)
    order = (*READ, *(name for name in ORDER if name not in READ))
    for name, following in zip(order, (*order[1:], None), strict=True):
        expect(main.locator(PICTURES).locator("visible=true").first, name).to_be_visible()
        for kind in ("Error", "Warning"):
            expect(main.get_by_test_id(f"stAlertContent{kind}"), name).to_have_count(0)
        expect(main.get_by_test_id("stProgress"), name).to_have_count(0, timeout=4 * TIMEOUT_MS)
        visit.check()
        assert wrong_words(main.inner_text()) == [], name
        problems.note(name)
        for width in (390, 1280):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.page.wait_for_function(FITS)  # canvases follow in their next frames
        next_page = visit.page.locator(".st-key-next_page a")
        if following in READ:
            next_page.click()
            visit.arrive(following)
        else:
            expect(next_page).to_have_count(0)
            if following is not None:
                visit.go_to(following)
    problems.note_form()
    assert problems.ours == [], "\n".join(problems.ours)
    assert problems.allowed >= {"list", "listitem"}, "Streamlit mended a violation: unlist it"


def test_no_colour_of_dark_violates_a_rule_of_axe(new_visit: Callable[..., Visit]) -> None:
    visit = new_visit(color_scheme="dark", reduced_motion="reduce")
    visit.open()
    problems = Problems(visit, COLOURS)
    for name in ORDER:
        if name != ORDER[0]:
            visit.go_to(name)
        visit.settle()
        problems.note(name)
    problems.note_form()
    assert problems.ours == [], "\n".join(problems.ours)


class Problems:
    """What axe finds on the pages of a visit."""

    def __init__(self, visit: Visit, options: dict[str, Any]) -> None:
        self.visit, self.options = visit, options
        self.ours: list[str] = []
        self.allowed: set[str] = set()
        """Rules that Streamlit's own elements violate."""

    def note(self, name: str) -> None:
        """Run axe on the page that is open."""
        for rule, selector, html in violations(self.visit.page, self.options):
            streamlits = STREAMLITS_OWN.get(rule)
            if streamlits is not None and matches(self.visit.page, selector, streamlits):
                self.allowed.add(rule)
            else:
                self.ours.append(f"{name}: {rule}: {html}")

    def note_form(self) -> None:
        """Run it on the form of Training."""
        self.visit.go_to("training")
        self.visit.page.get_by_role("radio", name=START).click()
        expect(self.visit.page.get_by_role("button", name="Start training")).to_be_visible()
        self.visit.settle()
        self.note(START)


def violations(page: Page, options: dict[str, Any]) -> list[tuple[str, Any, str]]:
    """Return what axe finds: rule, selector (a list of selectors inside shadow roots), HTML."""
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response
    return [
        (violation["id"], node["target"][0], node["html"][:300])
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def matches(page: Page, selector: str | list[str], wanted: str) -> bool:
    """Tell whether the element of a selector matches another; those in shadow roots are ours."""
    return isinstance(selector, str) and bool(
        page.evaluate(
            "([one, wanted]) => document.querySelector(one).matches(wanted)", [selector, wanted]
        )
    )


TYPED = {
    "masked-words": ("input[aria-label^='Words to score']", f"{SCRIPT}, river"),
    "sentence-pairs": (
        "textarea[aria-label='Sentences, one per line']",
        f"{SCRIPT}\n{MARKUP}\n{SIGNS}",
    ),
    "minimal-pair": (".st-key-other_a textarea", f"{SCRIPT} {SIGNS} {MARKUP}"),
}
"""By page: a further box, and what is typed into it."""
OPENED = {
    "masked-words": "How probable are your own words?",
    "sentence-pairs": "How similar are several sentences",
    "compare": "Which heads attend differently",
}
"""By page: what shows that box, or pictures of the texts."""


def use(visit: Visit, name: str) -> None:
    """Do on a page what brings its tokens to more places."""
    page = visit.page
    main = page.get_by_test_id("stMain")
    if name in OPENED:
        main.get_by_text(OPENED[name]).first.click()
        visit.settle()
    if name == "attention":
        page.get_by_role("radio", name="BertViz").click()
        expect(page.frame_locator("iframe").locator("svg line").first).to_be_attached()
        assert not visit.was_tricked()
        page.get_by_role("radio", name="Heat map").click()
        visit.inked(".st-key-attention_map")
    token = main.locator(".words button, .panel .token, .grid [role=switch]").nth(1)
    if token.count():
        token.click()
    if name in TYPED:
        box, text = TYPED[name]
        main.locator(box).fill(text)
        page.keyboard.press("Control+Enter")
        visit.settle()
    expect(main.get_by_test_id("stProgress"), name).to_have_count(0, timeout=4 * TIMEOUT_MS)
    visit.rest()
    for picture in main.locator(HOVERED).locator("visible=true").all()[:6]:
        picture.hover(force=True)


HOVERED = "[data-testid='stPlotlyChart'], [role=application]"
"""Charts and canvases, which tell what lies under the pointer."""


@pytest.mark.sweep
def test_hostile_texts_go_along_through_every_page(visit: Visit) -> None:
    """They are shown as they are, and nothing in them runs."""
    visit.open()
    text_a, text_b = f"{SCRIPT} {SIGNS}", f"{MARKUP} {SCRIPT}"
    visit.write(text_a, text_b)
    main = visit.page.get_by_test_id("stMain")
    for name in TEXT_PAGES:
        if name != ORDER[0]:
            visit.go_to(name)
        expect(main.locator(PICTURES).locator("visible=true").first, name).to_be_visible()
        expect(visit.box("A"), name).to_have_value(text_a)
        expect(visit.box("B"), name).to_have_value(text_b)
        use(visit, name)
        visit.check()
        assert not visit.was_tricked(), name
