"""A visitor does one thing on a page, goes away, comes back, and hands the link on."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser


def stays(
    visit: Visit, new_visit: Callable[..., Visit], name: str, is_so: Callable[[Visit], None]
) -> Visit:
    """Make sure that something is so, also after another page, and for whom the link is given.

    Returns the tab of that visitor.
    """
    is_so(visit)
    visit.go_to("papers" if name == "tokens" else "tokens")
    visit.go_to(name)
    is_so(visit)
    other = new_visit()
    other.follow(visit.page.url, name)
    is_so(other)
    for tab in (visit, other):
        tab.check()
    return other


def test_a_token_is_chosen(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("tokens", text_a=TEXT_A)
    visit.token("strip", "river").click()
    visit.wait_for_query("token", "6")
    expect(visit.page.get_by_text("How “river” is cut")).to_be_visible()
    visit.page.get_by_role("radio", name="Nearest words").click()

    def is_chosen(tab: Visit) -> None:
        tab.picture("figure_nearest-words")
        expect(tab.token("strip", "river")).to_have_attribute("aria-selected", "true")

    stays(visit, new_visit, "tokens", is_chosen)


def test_a_head_is_opened_from_the_overview(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("attention", text_a=TEXT_A, text_b=TEXT_B)
    heads = visit.page.locator(".st-key-attention_lines .heads .head")
    expect(heads.first).to_be_visible()
    overview = visit.inked(".st-key-attention_overview")
    box = overview.bounding_box()
    assert box is not None
    cell = (box["width"] - 30) / heads.count()  # beside it stand the layers' numbers
    overview.click(position={"x": 30 + 2.5 * cell, "y": 20 + 1.5 * cell})
    visit.wait_for_query("layer", "1")
    visit.wait_for_query("heads", "2")

    def is_open(tab: Visit) -> None:
        tab.inked(".st-key-attention_lines")
        lines = tab.page.locator(".st-key-attention_lines")
        expect(lines.get_by_label("Layer", exact=True)).to_have_value("1")
        pressed = lines.locator(".head[aria-pressed=true]")
        expect(pressed).to_have_count(1)
        expect(pressed).to_have_text("2")

    other = stays(visit, new_visit, "attention", is_open)
    expect(other.box("B")).to_have_value(TEXT_B)
    other.page.get_by_role("radio", name="Heat map").click()
    other.inked(".st-key-attention_map")
    other.check()


@pytest.mark.sweep
def test_a_word_is_hidden(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("masked-words", text_a=TEXT_A, surprise="1", ranks="1")
    visit.token("mask_strip", "bank").click()
    visit.wait_for_query("masked", "7")
    visit.picture("figure_masked-words")
    visit.page.get_by_label("Words to score at this mask").fill("river, bank, fishing")
    visit.page.keyboard.press("Enter")

    def is_hidden(tab: Visit) -> None:
        for name in ("masked-words", "lens", "ranks", "surprise", "candidates"):
            tab.picture(f"figure_{name}")
        expect(tab.page.locator(".st-key-mask_strip button.marked")).to_have_count(1)

    stays(visit, new_visit, "masked-words", is_hidden)


def test_the_pair_is_swapped(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("sentence-pairs", text_a=TEXT_A, text_b=TEXT_B, between="1", several="1")
    visit.picture("figure_next-sentence")
    visit.page.get_by_role("button", name="Swap A and B").click()
    visit.wait_for_query("text_a", TEXT_B)
    visit.page.get_by_role("radio", name="Every head").click()
    visit.wait_for_query("mass", "Every head")

    def is_swapped(tab: Visit) -> None:
        expect(tab.box("A")).to_have_value(TEXT_B)
        expect(tab.box("B")).to_have_value(TEXT_A)
        for name in ("next-sentence", "variants", "attention-mass", "pair-matrix"):
            tab.picture(f"figure_{name}")
        expect(tab.page.get_by_role("radio", name="Every head")).to_be_checked()

    stays(visit, new_visit, "sentence-pairs", is_swapped)


def test_the_slider_of_the_layer_map_moves(visit: Visit, new_visit: Callable[..., Visit]) -> None:
    visit.open("layer-map", text_a=TEXT_A, text_b=TEXT_B, map_method="pca")
    figure = visit.picture("figure_layer-map")
    slider = visit.page.get_by_role("slider", name="Map of the points by layer")
    last = int(slider.get_attribute("aria-valuemax") or 0)
    expect(slider).to_have_attribute("aria-valuenow", str(last))
    points = figure.locator(".scatterlayer .points path").first
    before = points.get_attribute("transform")
    slider.press("ArrowLeft")
    visit.wait_for_query("map_layer", str(last - 1))
    expect(points).not_to_have_attribute("transform", before or "")

    def is_moved(tab: Visit) -> None:
        tab.picture("figure_layer-map")
        moved = tab.page.get_by_role("slider", name="Map of the points by layer")
        expect(moved).to_have_attribute("aria-valuenow", str(last - 1))

    other = stays(visit, new_visit, "layer-map", is_moved)
    other.page.get_by_role("radio", name="3-D").click()
    expect(
        other.page.locator(".st-key-figure_layer-map .gl-container canvas").first
    ).to_be_visible()
    other.check()


def test_a_folder_is_opened(
    visit: Visit, new_visit: Callable[..., Visit], other_folder: Path
) -> None:
    visit.open("inspect", contents="1")
    combobox = visit.page.get_by_role("combobox", name="Checkpoint")
    combobox.fill(str(other_folder))
    combobox.press("Enter")
    visit.wait_for_query("checkpoint", str(other_folder))

    def is_open(tab: Visit) -> None:
        expect(tab.page.get_by_role("heading", name=other_folder.name, level=2)).to_be_visible()
        expect(tab.page.get_by_test_id("stDataFrame")).to_be_visible()
        expect(tab.page.get_by_role("combobox", name="Checkpoint")).to_have_value(other_folder.name)
        expect(tab.page.get_by_test_id("stSidebarUserContent")).to_contain_text("1 layers")

    other = stays(visit, new_visit, "inspect", is_open)
    other.page.get_by_role("radio", name="Shape").click()
    other.picture("figure_parameters")
    other.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_are_legible_in_light_and_dark(new_visit: Callable[..., Visit], scheme: str) -> None:
    """The ground follows the system's setting, and what a canvas and Plotly write stands out."""
    visit = new_visit(color_scheme=scheme)
    visit.open("attention", text_a=TEXT_A, text_b=TEXT_B)
    canvas = visit.inked(".st-key-attention_lines")
    picture = Image.open(io.BytesIO(canvas.screenshot())).convert("L")
    names = picture.crop((6, 6, round(0.26 * picture.width), picture.height - 6))
    shades = names.histogram()  # left of the lines and their coloured marks
    ground = max(range(256), key=shades.__getitem__)
    ink = max((shade for shade in range(256) if shades[shade]), key=lambda s: abs(s - ground))
    assert ground < 60 if scheme == "dark" else ground > 220
    assert contrast(ground, ink) > 4.5
    visit.go_to("tokens")
    figure = visit.picture()
    label = figure.locator(".xtick text").first
    shown = label.evaluate("label => getComputedStyle(label).fill")
    assert contrast(ground, luma(shown, ground)) > 4.5
    visit.check()


def luma(colour: str, ground: int) -> int:
    """Return the grey 0 to 255 of a CSS colour, rgb or srgb, laid over a grey ground."""
    red, green, blue, alpha = [*map(float, re.findall(r"[\d.]+", colour)), 1.0][:4]
    grey = 0.299 * red + 0.587 * green + 0.114 * blue
    whole = 255 if colour.startswith("color(") else 1
    return round(alpha * grey * whole + (1 - alpha) * ground)


def contrast(first: int, second: int) -> float:
    """Return the contrast ratio of two greys 0 to 255, as WCAG has it."""
    lights = [((grey / 255 + 0.055) / 1.055) ** 2.4 + 0.05 for grey in (first, second)]
    return max(lights) / min(lights)
