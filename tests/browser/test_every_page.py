"""Every page in one visit: by a visitor who has typed nothing, and with hostile texts.

A page is loaded once for all that is asked of it, since loading is what takes long.
"""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support.browser.hostile import MARKUP, SCRIPT, SIGNS
from tests.support.browser.visit import TEXT_PAGES, TITLES, Visit, first_picture
from tests.support.browser.wording import wrong_words

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ORDER = tuple(TITLES)
PICTURES = (
    "canvas, svg.main-svg, table, [data-testid='stDataFrame'], [data-testid='stMetric'], "
    ".row .token, .panel svg"
)
"""What is drawn from numbers; boxes with words are none."""
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
    for name, following in zip(ORDER, (*ORDER[1:], None), strict=True):
        expect(main.locator(PICTURES).locator("visible=true").first, name).to_be_visible()
        for kind in ("Error", "Warning"):
            expect(main.get_by_test_id(f"stAlertContent{kind}"), name).to_have_count(0)
        visit.check()
        assert wrong_words(main.inner_text()) == [], name
        problems.note(name)
        for width in (390, 1280):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.page.wait_for_function(FITS)  # canvases follow in their next frames
        next_page = visit.page.locator(".st-key-next_page a")
        if following is None:
            expect(next_page).to_have_count(0)
        else:
            next_page.click()
            visit.arrive(following)
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


def use(visit: Visit, name: str) -> None:
    """Do on a page what brings its tokens to more places."""
    if name == "glance":
        visit.inked(".st-key-glance")
        plane = visit.page.locator(".st-key-glance .plane")
        for place in (60, 140, 300, 500, 800):
            plane.hover(position={"x": place, "y": 200})
        plane.press("ArrowRight")
        visit.wait_for_query("step", "1")
    elif name == "tokens":
        visit.page.locator(".st-key-strip .words button").nth(3).click()
        visit.wait_for_query("token", "3")
        visit.picture()
    elif name == "attention":
        visit.page.get_by_role("radio", name="BertViz").click()
        frame = visit.page.frame_locator("iframe")
        expect(frame.locator("svg line").first).to_be_attached()
        visit.check()
        assert not visit.was_tricked()
        visit.page.get_by_role("radio", name="Heat map").click()
        visit.inked(".st-key-attention_map")
        visit.page.locator(".st-key-attention_map .field").hover(position={"x": 200, "y": 200})
        visit.page.get_by_role("radio", name="Lines").click()
        visit.inked(".st-key-attention_lines")
        visit.page.locator(".st-key-attention_lines .scroller").hover(position={"x": 20, "y": 60})
    elif name == "masked-words":
        visit.page.locator(".st-key-mask_strip .words button").nth(1).click()
        visit.wait_for_query("masked", "1")
        visit.page.get_by_label("Words to score at this mask").fill(f"{SCRIPT}, river")
        visit.page.keyboard.press("Enter")
        visit.wait_for_query("candidates", f"{SCRIPT}, river")
        visit.picture("figure_masked-words").hover()
    elif name == "sentence-pairs":
        visit.page.get_by_text("How similar are several sentences").click()
        visit.page.get_by_label("Sentences, one per line").fill(f"{SCRIPT}\n{MARKUP}\n{SIGNS}")
        visit.page.keyboard.press("Control+Enter")
        visit.wait_for_query("sentences", f"{SCRIPT}\n{MARKUP}\n{SIGNS}")
        for name in ("similar-map", "similar-words", "similar-pairs", "pair-matrix"):
            visit.picture(f"figure_{name}").hover()
    elif name == "minimal-pair":
        visit.page.locator(".st-key-other_a textarea").fill(f"{SCRIPT} {SIGNS} {MARKUP}")
        visit.wait_for_query("other_a", f"{SCRIPT} {SIGNS} {MARKUP}")
        visit.settle()
        visit.picture("figure_minimal-pair-vectors").hover()
    elif name == "compare":
        visit.picture("figure_compare-answers").hover()
        visit.page.get_by_role("radio", name="Heads").click()
        visit.inked(".st-key-compare_map_second")
        visit.page.locator(".st-key-compare_map_first .field").hover(position={"x": 150, "y": 150})
        visit.page.get_by_role("radio", name="Answers").click()
        visit.settle()
    elif name == "what-if":
        visit.page.get_by_role("switch", name="Layer 0 head 1", exact=True).click()
        visit.wait_for_query("off", "0.1")
        visit.settle()
        visit.picture("figure_what-if-words").hover()
        visit.picture("figure_what-if-hidden").hover()
    elif name == "inspect":  # test_inspect.py has models with a task head
        expect(visit.page.get_by_text("has no decision to inspect")).to_be_visible()
    elif name == "layer-map":
        visit.picture("figure_layer-map").hover()
    elif name == "objectives":
        visit.page.locator(".st-key-objectives button", has_text="Replaced tokens").click()
        visit.wait_for_query("objective", "replaced-tokens")
        visit.picture("figure_objective-looks").hover()
    elif name == "architectures":
        visit.page.locator(".st-key-architectures svg .token").nth(3).click()
        visit.page.get_by_role("radio", name="Let it write").click()
        expect(visit.page.locator(".st-key-writing .chip").first).to_be_visible()
        visit.page.get_by_role("radio", name="Why words are hidden").click()
        visit.picture("figure_two-layers").hover()
    else:  # a new page: the first of its pictures
        visit.page.locator(".js-plotly-plot").first.hover()


@pytest.mark.sweep
def test_hostile_texts_go_along_through_every_page(visit: Visit) -> None:
    """They are shown as they are, and nothing in them runs."""
    visit.open()
    text_a, text_b = f"{SCRIPT} {SIGNS}", f"{MARKUP} {SCRIPT}"
    visit.write(text_a, text_b)
    for name in TEXT_PAGES:
        if name != ORDER[0]:
            visit.go_to(name)
        first_picture(visit, name)
        expect(visit.box("A"), name).to_have_value(text_a)
        expect(visit.box("B"), name).to_have_value(text_b)
        use(visit, name)
        visit.check()
        assert not visit.was_tricked(), name
