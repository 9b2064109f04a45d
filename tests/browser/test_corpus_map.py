"""The map of a corpus in a browser: drawn, searched, read, chosen with the lasso, by keys."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from app.layer_map.corpus.points import Colours, Drawn
from app.plots import theme
from bertcore.analysis.space.corpus_map import CorpusMap
from bertcore.analysis.space.map_quality import Faithfulness
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import Tab
from tests.support.browser.visit import TIMEOUT_MS, Visit
from tests.support.encoded_table import encode_table

pytestmark = pytest.mark.browser


def opened(visit: Visit, folder: Path) -> Locator:
    encoded = encode_table(folder)
    visit.open("layer-map", map_source="corpus", corpus="folder", corpus_folder=str(encoded.folder))
    field = visit.page.get_by_role("application", name="Map of the corpus")
    expect(field).to_be_visible()
    visit.settle()
    return field


def colours(field: Locator) -> int:
    """Count the pixels with a colour: points; names and ground are grey."""
    picture = np.asarray(Image.open(io.BytesIO(field.screenshot())).convert("RGB")).astype(int)
    return int((picture.max(-1) - picture.min(-1) > 60).sum())


def until(field: Locator, is_so: Callable[[], bool]) -> None:
    """Wait until something is so: points come some frames after their field."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while not is_so():
        assert time.monotonic() < deadline
        field.page.wait_for_timeout(100)


def test_points_are_drawn_found_and_read(visit: Visit, tmp_path: Path) -> None:
    field = opened(visit, tmp_path)
    # thirteen places; names stand over some of them
    until(field, lambda: colours(field) > 20)
    search = visit.page.get_by_role("searchbox", name="Find a word")
    search.fill("bank")
    chosen = visit.page.locator(".st-key-corpus_point_map .chosen")
    expect(chosen).to_have_text("8 points: bank (8)")
    expect(visit.page.locator("[data-testid=stDataFrame]")).to_be_visible()
    search.fill("<img src=x onerror=alert(1)>")
    expect(chosen).to_contain_text("No point is")
    assert not visit.was_tricked()
    field.press("Escape")
    expect(chosen).to_have_text("")
    visit.check()


def test_the_lasso_and_the_keys(visit: Visit, tmp_path: Path) -> None:
    field = opened(visit, tmp_path)
    visit.page.get_by_role("button", name="Lasso").click()
    box = field.bounding_box()
    assert box is not None
    left, top = box["x"] + 4, box["y"] + 4
    right, bottom = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    mouse = visit.page.mouse
    mouse.move(left, top)
    mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 8)):
        mouse.move(x, y, steps=4)
    mouse.up()
    chosen = visit.page.locator(".st-key-corpus_point_map .chosen")
    expect(chosen).to_contain_text("points: the (")
    field.press("Escape")
    layer = visit.page.get_by_role("slider", name="Layer")
    expect(layer).to_have_value("1")
    field.press("PageDown")
    expect(layer).to_have_value("0")
    for key in ("+", "ArrowLeft", "0"):
        field.press(key)
    visit.check()


def shown_alone(tab: Tab, *, num_layers: int = 3) -> Locator:
    """Show a map of twelve points without the app; return its field."""
    num = 12
    unit = np.random.default_rng(0).uniform(0.1, 0.9, (num_layers, num, 2)).astype(np.float32)
    nothing = np.full(num_layers, np.nan)
    quality = Faithfulness(nothing, nothing, nothing, 0, 0, 0)
    layers = tuple(range(num_layers))
    made = CorpusMap(layers, np.arange(num), unit, unit[:, 0], quality, num, 0)
    places = np.round(unit * 65535).astype(np.uint16)
    word_ids = np.arange(num, dtype=np.uint32)
    drawn = Drawn(made, places, tuple(f"word{k}" for k in range(num)), word_ids, ((),) * num_layers)
    codes = np.zeros(num, np.uint8)
    colour = Colours("made", ("all",), (theme.CATEGORICAL[1],), codes, False)
    page = tab.show(bare_view.point_map_view(drawn, colour))
    return page.get_by_role("application", name="Map of the corpus")


_WATCH_LAYERS = """() => {
  window.seen = [];
  const shown = document.getElementById("place").shadowRoot.querySelector("output");
  new MutationObserver(() => window.seen.push(shown.textContent)).observe(
    shown, { childList: true, subtree: true, characterData: true });
}"""
"""Note each layer that is shown: a slow machine may not see one while it is there."""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_layers_play_from_the_first_to_the_last(tab: Tab, motion: str) -> None:
    page = tab.page
    page.emulate_media(reduced_motion=motion)
    shown_alone(tab)
    layer = page.get_by_role("slider", name="Layer")
    expect(layer).to_have_value("2")
    page.evaluate(_WATCH_LAYERS)
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("window.seen.length >= 3")
    assert page.evaluate("window.seen") == ["0 (embeddings)", "1", "2"]
    expect(layer).to_have_value("2")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_the_keys_turn_the_layers_and_say_so(tab: Tab) -> None:
    field = shown_alone(tab)
    layer, said = tab.page.get_by_role("slider", name="Layer"), tab.page.locator(".live-region")
    field.press("PageDown")
    expect(layer).to_have_value("1")
    expect(said).to_have_text("Layer 1")
    field.press("PageDown")
    expect(said).to_have_text("Layer 0 (embeddings)")


_KEY = """([key, modifier]) => {
  const root = document.getElementById("place").shadowRoot;
  return root.querySelector(".field").dispatchEvent(
    new KeyboardEvent("keydown", { key, [modifier]: true, bubbles: true, cancelable: true }));
}"""
_WHEEL = """deltaY => {
  const root = document.getElementById("place").shadowRoot;
  return root.querySelector(".field").dispatchEvent(
    new WheelEvent("wheel", { deltaY, bubbles: true, cancelable: true }));
}"""


def touches_scroll(field: Locator) -> bool:
    return str(field.evaluate("field => getComputedStyle(field).touchAction")) != "none"


def test_the_browser_keeps_its_keys_and_the_page_its_wheel(tab: Tab) -> None:
    field = shown_alone(tab)
    page = tab.page
    for key, modifier in (("+", "ctrlKey"), ("0", "metaKey"), ("ArrowLeft", "altKey")):
        assert page.evaluate(_KEY, [key, modifier]), key
    assert page.evaluate(_WHEEL, 100)
    assert touches_scroll(field)
    page.get_by_role("button", name="Lasso").click()
    assert not touches_scroll(field)
    page.get_by_role("button", name="Lasso").click()
    assert not page.evaluate(_WHEEL, -100)  # zooms
    tab.settle()
    assert not touches_scroll(field)
    assert not page.evaluate(_WHEEL, 1000)
    assert page.evaluate(_WHEEL, 100)  # the map is whole again


def pointer(page: Page, kind: str, number: int, x: float, y: float) -> None:
    """Move one of several pointers over the field."""
    page.evaluate(
        """([kind, pointerId, x, y]) => {
          const field = document.getElementById("place").shadowRoot.querySelector(".field");
          field.setPointerCapture = () => {};
          const box = field.getBoundingClientRect();
          field.dispatchEvent(new PointerEvent(`pointer${kind}`, {
            pointerId, clientX: box.left + x, clientY: box.top + y, bubbles: true }));
        }""",
        [kind, number, x, y],
    )


def test_a_drag_follows_one_pointer(tab: Tab) -> None:
    field = shown_alone(tab)
    field.press("+")
    tab.settle()
    before = field.screenshot()
    pointer(tab.page, "down", 7, 300, 200)
    pointer(tab.page, "down", 8, 600, 400)
    pointer(tab.page, "move", 8, 700, 100)
    pointer(tab.page, "up", 8, 700, 100)
    tab.settle()
    assert field.screenshot() == before
    pointer(tab.page, "move", 7, 340, 230)
    pointer(tab.page, "up", 7, 340, 230)
    until(field, lambda: field.screenshot() != before)


def test_the_points_come_back_with_the_graphics(tab: Tab) -> None:
    field = shown_alone(tab)
    tab.page.get_by_role("searchbox").fill("word")  # marks all
    until(field, lambda: colours(field) > 100)
    tab.settle()
    whole = colours(field)
    field.evaluate(
        """async field => {
          const gl = field.querySelector("canvas").getContext("webgl2");
          const lose = gl.getExtension("WEBGL_lose_context");
          const heard = kind => new Promise(
            done => gl.canvas.addEventListener(kind, done, { once: true }));
          const lost = heard("webglcontextlost");
          lose.loseContext();
          await lost;
          await new Promise(done => setTimeout(done));
          const back = heard("webglcontextrestored");
          lose.restoreContext();
          await Promise.race([back, new Promise(done => setTimeout(done, 3000))]);
        }"""
    )
    until(field, lambda: colours(field) == whole)
