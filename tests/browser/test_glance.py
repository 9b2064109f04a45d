"""BERT at a glance in a browser: the walk, a token followed, every part clicked, its files."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser

MASKED = "The man went to the river [MASK] and was steep"
SVG = "{http://www.w3.org/2000/svg}"


def opened(visit: Visit, **query: str) -> Locator:
    """Open the page; return the drawing."""
    visit.open("glance", **{"text_a": MASKED, "text_b": TEXT_B, **query})
    visit.inked(".st-key-glance")
    return visit.page.locator(".st-key-glance .plane")


def click(plane: Locator, x: float, y: float) -> None:
    """Click at fractions of the drawing's width and height."""
    box = plane.bounding_box()
    assert box is not None
    plane.click(position={"x": x * box["width"], "y": y * box["height"]})


PARTS = [
    (0.05, 0.5, "tokens", "token"),  # the text
    (0.15, 0.5, "tokens", "token"),  # a word piece
    (0.22, 0.5, "tokens", "token"),  # an embedding
    (0.42, 0.09, "attention", "heads"),  # a head
    (0.4, 0.5, "attention", None),  # the lines of a layer
    (0.425, 0.5, "inside-layer", None),  # add & norm
    (0.435, 0.5, "inside-layer", None),  # feed-forward
    (0.82, 0.5, "layer-map", None),  # the last layer's output
    (0.95, 0.24, "sentence-pairs", None),
    (0.95, 0.55, "masked-words", None),
]
"""Places as fractions of the drawing, the page that a click opens, a name in its address."""


def test_a_part_opens_its_page(visit: Visit) -> None:
    plane = opened(visit)
    for x, y, name, query in PARTS:
        click(plane, x, y)
        visit.arrive(name)
        if query:
            visit.page.wait_for_function(
                "name => new URL(location).searchParams.has(name)", arg=query
            )
        expect(visit.box("A")).to_have_value(MASKED)
        visit.check()
        visit.go_to("glance")
        visit.inked(".st-key-glance")


def test_the_walk_is_in_the_address_and_each_step_opens_a_page(
    visit: Visit, new_visit: Callable[..., Visit]
) -> None:
    plane = opened(visit)
    plane.press("ArrowRight")
    plane.press("ArrowRight")
    visit.page.get_by_role("button", name="Next step").click()
    visit.wait_for_query("step", "3")
    walk = visit.page.get_by_role("group", name="Walk through BERT")
    expect(walk).to_contain_text("4 of 10")
    expect(walk).to_contain_text("Input.")
    other = new_visit()
    other.follow(visit.page.url, "glance")
    expect(other.page.get_by_role("group", name="Walk through BERT")).to_contain_text("4 of 10")
    other.page.get_by_role("button", name="Open the page about this step").click()
    other.arrive("tokens")
    other.check()
    visit.check()


def test_a_token_is_followed_by_pointer_and_keys(visit: Visit) -> None:
    plane = opened(visit)
    box = plane.bounding_box()
    assert box is not None
    plane.hover(position={"x": 0.15 * box["width"], "y": 0.5 * box["height"]})
    tip = visit.page.locator(".st-key-glance .tip")
    expect(tip).to_contain_text("token")
    expect(tip).to_contain_text("Click: Tokens & embeddings")
    plane.focus()
    plane.press("Home")
    said = visit.page.locator(".st-key-glance .live-region")
    expect(said).to_contain_text("[CLS], token 0")
    plane.press("ArrowDown")
    expect(said).to_contain_text("the, token 1")
    visit.check()


def test_the_drawing_is_saved_as_svg_with_every_token(visit: Visit) -> None:
    opened(visit)
    with visit.page.expect_download() as started:
        visit.page.locator(".st-key-glance").get_by_role("button", name="SVG").click()
    root = ET.fromstring(started.value.path().read_text(encoding="utf-8"))
    texts = [node.text for node in root.iter(f"{SVG}text")]
    for token in ("[CLS]", "river", "[MASK]", "steep", "[SEP]"):
        assert token in texts
    assert any(text and text.startswith("Layer ") for text in texts)
    curves = [node.get("d", "") for node in root.iter(f"{SVG}path")]
    assert any("C" in path for path in curves)
    with visit.page.expect_download() as started:
        visit.page.locator(".st-key-glance").get_by_role("button", name="JSON").click()
    saved = json.loads(started.value.path().read_text(encoding="utf-8"))
    assert [row[0] for row in saved["rows"]][7] == "[MASK]"


@pytest.mark.parametrize(("width", "scheme"), [(800, "light"), (1280, "dark")])
def test_it_fits_into_the_window(new_visit: Callable[..., Visit], width: int, scheme: str) -> None:
    visit = new_visit(viewport={"width": width, "height": 800}, color_scheme=scheme)
    plane = opened(visit, text_a=TEXT_A)
    frame, canvas = plane.bounding_box(), plane.locator("canvas").bounding_box()
    place = visit.page.locator(".st-key-glance").bounding_box()
    assert frame is not None
    assert canvas is not None
    assert place is not None
    assert frame["x"] + frame["width"] <= place["x"] + place["width"] + 1
    # Beside the sidebar of a narrow window, the frame scrolls: the words stay legible.
    assert (canvas["width"] > frame["width"] + 1) == (width == 800)
    overflow = "document.documentElement.scrollWidth > window.innerWidth"
    assert not visit.page.evaluate(overflow)
    if width == 1280:  # the whole drawing, without scrolling
        assert canvas["y"] + canvas["height"] <= 800
    visit.check()
