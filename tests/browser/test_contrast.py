"""Text that few visitors come to see, in light and in dark, and colours that the system forces."""

import xml.etree.ElementTree as ET

import pytest

from app.bundle import read_bundle
from bertcore import Trace
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.running import ROOT

pytestmark = pytest.mark.browser

THEME = ROOT / "app" / "html_file" / "document.css"
RARE = {
    "word that is no piece": ("token_strip/word_steps", "<b class='failed'>word</b>"),
    "token that is not read": (
        "architectures/drawing",
        "<div class=architectures><svg><text class='token unread'>word</text></svg></div>",
    ),
    "head that is hidden": (
        "canvas/lines/lines",
        "<div class=view><button class=head aria-pressed=false>7</button></div>",
    ),
    "what is no number": ("canvas/lines/lines", "<p class=broken>word</p>"),
    "view that failed": ("", "<p class=view-error>word</p>"),
}
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
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, node =>
    node.data.trim() && node.parentElement.tagName !== "STYLE"
      ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  const node = texts.nextNode().parentElement;
  const style = getComputedStyle(node);
  const [...text] = read(node instanceof SVGElement ? style.fill : style.color);
  let opacity = text[3] / 255;
  for (let one = node; one; one = one.parentElement) opacity *= getComputedStyle(one).opacity;
  const ground = read(getComputedStyle(document.body).backgroundColor).slice(0, 3);
  const seen = ground.map((c, k) => c + opacity * (text[k] - c));
  const [low, high] = [luminance(seen), luminance(ground)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("what", RARE)
def test_rare_text_is_legible(tab: Tab, what: str, scheme: str) -> None:
    bundle, html = RARE[what]
    style = read_bundle(ROOT / "app" / bundle).style if bundle else ""
    tab.page.emulate_media(color_scheme=scheme)
    tab.page.set_content(_PAGE.format(theme=THEME.read_text("utf-8"), style=style, html=html))
    assert tab.page.evaluate(_CONTRAST) >= 4.5


def test_numbers_of_tokens_on_a_canvas_are_legible(tab: Tab, pair: Trace) -> None:
    tab.show(bare_view.neurons_view(pair))
    drawn = ET.fromstring(tab.save("SVG")).iter("{http://www.w3.org/2000/svg}text")
    texts = {text.text: float(text.get("fill-opacity") or 1) for text in drawn}
    assert texts["[CLS]"] == 1
    assert 0.68 <= texts["12"] < 1


COLOURED = {
    "token_strip/token_strip": "<div class=legend><i class=it style='background: {}'></i></div>",
    "architectures/drawing": (
        "<div class=architectures><p class=answers><b class=bar>"
        "<i class=it style='background: {}'></i></b></p></div>"
    ),
    "architectures/writing": "<ol class=writing><li><i class=it style='background: {}'></i></ol>",
    "objectives/drawing": (
        "<div class=objectives><b class='cell mask it' style='background: {}'>word</b></div>"
    ),
    "training_example/drawing": (
        "<div class=example><p class=cost><i class=it style='background: {}'></i></p></div>"
    ),
    "inside_layer/drawing": (
        "<div class=layer><p class=track><i class=it style='background: {}'></i></p></div>"
    ),
    "canvas/overview/overview": "<div class=bar><i class=it style='background: {}'></i></div>",
}
_GROUND = "node => getComputedStyle(node).backgroundColor"


@pytest.mark.parametrize("bundle", COLOURED)
def test_colours_that_mean_something_are_kept(tab: Tab, bundle: str) -> None:
    page = tab.page
    page.emulate_media(forced_colors="active")
    style = read_bundle(ROOT / "app" / bundle).style
    html = COLOURED[bundle].format("rgb(12, 134, 56)")
    page.set_content(_PAGE.format(theme="", style=style, html=html))
    assert page.locator(".it").evaluate(_GROUND) == "rgb(12, 134, 56)"


def test_heads_are_told_apart_where_colours_are_forced(tab: Tab, pair: Trace) -> None:
    page = tab.page
    page.emulate_media(forced_colors="active")
    tab.show(bare_view.lines_view(pair, 0, [0, 1, 3]))
    field = page.get_by_role("application")
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 30, box["y"] + 60)
    tab.settle()

    def grounds(selector: str) -> list[str]:
        return [one.evaluate(_GROUND) for one in page.locator(selector).all()]

    parts = grounds(".target:first-of-type .bar span")
    assert len(set(parts)) == 3
    assert {*grounds(".detail i")} <= {*parts}
    heads = grounds(".heads .head")
    assert [heads[0], heads[1], heads[3]] == parts
    assert len({*grounds(".key b")}) == 3
    hidden, shown = page.locator(".head").nth(2), page.locator(".head").nth(0)
    ink = [one.evaluate("node => getComputedStyle(node).color") for one in (hidden, shown)]
    forced = page.evaluate("getComputedStyle(document.body).color")
    assert ink == [forced, "rgb(255, 255, 255)"]


def test_what_is_pressed_is_seen_where_colours_are_forced(tab: Tab) -> None:
    page = tab.page
    page.emulate_media(forced_colors="active")
    tab.show(bare_view.head_switches_view(2, 3, off=["0.1"]))
    only = page.get_by_role("button", name="Only this one")
    before = only.evaluate(_GROUND)
    only.click()
    assert only.evaluate(_GROUND) != before
    switches = page.get_by_role("switch").all()
    assert switches[0].evaluate(_GROUND) != switches[1].evaluate(_GROUND)
