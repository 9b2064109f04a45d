"""Narrow windows, touch screens, colours that the system forces: legible, in view, not covered."""

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from app.parts.bundle import read_bundle
from bertcore import Trace
from tests.browser.test_every_page import FITS
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.running import ROOT
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
    ("minimal-pair", {"text_a": "the dog had rained", "text_b": "", "other_a": "the cat"}),
]


@pytest.mark.parametrize(("name", "query"), WIDE_PAGES)
def test_what_is_wide_stays_within_the_page(visit: Visit, name: str, query: dict[str, str]) -> None:
    visit.page.set_viewport_size({"width": 800, "height": 900})
    visit.open(name, **query)
    visit.page.wait_for_function(FITS)
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
    title = visit.page.get_by_role("heading", level=1).bounding_box()
    assert title["y"] >= bar["y"] + bar["height"]
    visit.check()


def test_the_buttons_of_a_figure_do_not_cover_it_on_a_touch_screen(
    new_visit: Callable[..., Visit],
) -> None:
    visit = new_visit(has_touch=True, is_mobile=True, viewport={"width": 1024, "height": 1300})
    visit.open("sentence-pairs", text_a="The man went", text_b="It had rained")
    figure = visit.picture("figure_next-sentence")
    expect(figure.locator("text", has_text="B is a random text")).to_be_visible()
    assert figure.evaluate(COVERED) == []
    with visit.page.expect_download():
        figure.locator(".modebar-btn").first.tap()  # which waits until nothing covers it
    visit.check()


def test_the_buttons_of_a_figure_take_nothing_of_its_height_on_a_touch_screen(
    new_visit: Callable[..., Visit],
) -> None:
    visit = new_visit(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    visit.open("inspect", text_a="The food was good")
    figure = visit.picture("figure_inspect-words")
    expect(figure.locator(".bars path").first).to_be_visible()
    boxes = "f => [...f.querySelectorAll('.bars path')].map(p => p.getBoundingClientRect().height)"
    assert min(figure.evaluate(boxes)) > 30  # two lines of text
    visit.check()


RARE = {
    "word that is no piece": ("parts/token_strip/word_steps", "<b class='failed'>word</b>"),
    "token that is not read": (
        "screens/architectures/drawing",
        "<div class=architectures><svg><text class='token unread'>word</text></svg></div>",
    ),
    "head that is hidden": (
        "parts/canvas/lines/lines",
        "<div class=view><button class=head aria-pressed=false>7</button></div>",
    ),
    "what is no number": ("parts/canvas/lines/lines", "<p class=broken>word</p>"),
    "view that failed": ("", "<p class=view-error>word</p>"),
}
"""Text that few visitors come to see: its bundle and HTML."""
_PAGE = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><style>{theme}</style>
<body class="auto"><style>{style}</style>{html}</body>"""
_CONTRAST = """() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = colour => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(c => c / 255 <= 0.04045 ? c / 255 / 12.92
      : ((c / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const node = document.querySelector("b, text, button, p");
  const style = getComputedStyle(node);
  const [...text] = read(node instanceof SVGElement ? style.fill : style.color);
  let opacity = text[3] / 255;
  for (let one = node; one; one = one.parentElement) opacity *= getComputedStyle(one).opacity;
  const ground = read(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const seen = ground.map((c, k) => c + opacity * (text[k] - c));
  const [low, high] = [luminance(seen), luminance(ground)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.mark.parametrize("what", RARE)
def test_rare_text_is_legible(tab: Tab, what: str) -> None:
    bundle, html = RARE[what]
    theme = (ROOT / "app" / "parts" / "html_file" / "document.css").read_text(encoding="utf-8")
    style = read_bundle(ROOT / "app" / bundle).style if bundle else ""
    tab.page.set_content(_PAGE.format(theme=theme, style=style, html=html))
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        assert tab.page.evaluate(_CONTRAST) >= 4.5, scheme


def test_numbers_of_tokens_on_a_canvas_are_legible(tab: Tab, pair: Trace) -> None:
    tab.show(bare_view.neurons_view(pair))
    drawn = ET.fromstring(tab.save("SVG")).iter("{http://www.w3.org/2000/svg}text")
    texts = {text.text: float(text.get("fill-opacity") or 1) for text in drawn}
    assert texts["[CLS]"] == 1
    assert 0.68 <= texts["12"] < 1


COLOURED = {
    "parts/token_strip/token_strip": "<div class=legend><i class=it></i></div>",
    "screens/architectures/drawing": (
        "<div class=architectures><p class=answers><b class=bar><i class=it></i></b></p></div>"
    ),
    "screens/architectures/writing": "<ol class=writing><li><i class=it></i></ol>",
    "screens/objectives/drawing": "<div class=objectives><b class='cell mask it'>word</b></div>",
    "screens/training_example/drawing": (
        "<div class=example><p class=cost><i class=it></i></p></div>"
    ),
    "screens/inside_layer/drawing": "<div class=layer><p class=track><i class=it></i></p></div>",
    "parts/canvas/overview/overview": "<div class=bar><i class=it></i></div>",
}
"""Elements whose colour means something."""
_GROUND = "node => getComputedStyle(node).backgroundColor"


@pytest.mark.parametrize("bundle", COLOURED)
def test_colours_that_mean_something_are_kept(tab: Tab, bundle: str) -> None:
    tab.page.emulate_media(forced_colors="active")
    style = read_bundle(ROOT / "app" / bundle).style
    html = COLOURED[bundle].replace("it>", "it style='background: rgb(12, 134, 56)'>")
    html = html.replace("it'>", "it' style='background: rgb(12, 134, 56)'>")
    tab.page.set_content(_PAGE.format(theme="", style=style, html=html))
    assert tab.page.locator(".it").evaluate(_GROUND) == "rgb(12, 134, 56)"


def test_heads_and_switches_are_told_apart_where_colours_are_forced(tab: Tab, pair: Trace) -> None:
    page = tab.page
    page.emulate_media(forced_colors="active")
    tab.show(bare_view.lines_view(pair, 0, [0, 1, 3]))
    field = page.get_by_role("application")
    field.hover(position={"x": 30, "y": 60})
    tab.settle()

    def grounds(selector: str) -> list[str]:
        return [node.evaluate(_GROUND) for node in page.locator(selector).all()]

    parts = grounds(".target:first-of-type .bar span")
    assert len(set(parts)) == 3
    heads = grounds(".heads .head")
    assert [heads[0], heads[1], heads[3]] == parts
    assert len({*grounds(".key b")}) == 3
    tab.show(bare_view.head_switches_view(2, 3, off=["0.1"]))
    before = grounds("button:text-is('Only this one')")
    page.get_by_role("button", name="Only this one").click()
    assert grounds("button:text-is('Only this one')") != before
    switches = grounds("[role=switch]")
    assert switches[0] != switches[1]
