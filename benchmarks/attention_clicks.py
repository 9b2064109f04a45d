"""From a click to the painted picture on the Attention page: 12 x 12 heads, 512 tokens.

Unlike `attention_views`, which draws data that is already in the browser, this includes the server:
the click goes to the real app, which reads the cached trace, packs and sends it, and the view
unpacks and paints it. The clock is the browser's, from the click to the last change of the canvas
before QUIET_MS without changes. The weights are random, in the shape of BERT base. The trace was
computed before, except in the last row: a new text, from sending it to its lines.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from playwright.sync_api import Page, sync_playwright

from benchmarks import tables
from benchmarks.head_ranking import our_bert
from benchmarks.page_speed import new_page
from tests.support.browser.running import running_app
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

AIM, ROUNDS, QUIET_MS = 2.0, 5, 400
WORDS = ("river", "bank", "water", "stone", "house", "night", "money", "winter")
_OVERVIEW, _VIEW = ".st-key-attention_overview canvas", ".st-key-attention_{} canvas"

# Samples a canvas at each frame; the last change is the time of painting.
_WATCH = """(selector) => {
  const find = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.matches("canvas") && node.width > 100) return node;
      const inner = node.shadowRoot && find(node.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  const small = Object.assign(document.createElement("canvas"), { width: 48, height: 48 });
  const pen = small.getContext("2d", { willReadFrequently: true });
  const sample = () => {
    const place = document.querySelector(selector);
    const canvas = place && find(place);
    if (!canvas) return "";
    pen.clearRect(0, 0, 48, 48);
    pen.drawImage(canvas, 0, 0, 48, 48);
    return pen.getImageData(0, 0, 48, 48).data.join();
  };
  const clock = (window.clock = { begin: 0, painted: 0 });
  let before = sample();
  const begin = () => { clock.begin ||= performance.now(); };
  addEventListener("pointerdown", begin, { capture: true });
  addEventListener("keydown", (key) => { if (key.key === "Enter") begin(); }, { capture: true });
  const look = () => {
    const now = sample();
    if (clock.begin && now !== before && now) clock.painted = performance.now();
    before = now;
    if (window.clock === clock) requestAnimationFrame(look);
  };
  look();
}"""
_DONE = f"clock.painted && performance.now() - clock.painted > {QUIET_MS}"


def run() -> str:
    """Return the table of seconds."""
    with tempfile.TemporaryDirectory() as folder:
        bert = our_bert()
        with torch.no_grad():
            for layer in bert.module.layers:  # else all weights are equal, and no line is drawn
                layer.attention.query.weight *= 10
        checkpoint = bert.save(Path(folder) / "base")
        with running_app(checkpoint) as app, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=str(find_browser()), args=list(LAUNCH_FLAGS)
            )
            with new_page(browser, app.url) as page:
                rows = measure(page, app.url)
            browser.close()
    columns = ("512 tokens, 12 x 12 heads", "median (range)", f"aim {AIM:.0f} s")
    return tables.markdown(columns, rows)


def measure(page: Page, url: str) -> list[tuple[str, str, str]]:
    """Return the rows of the table."""
    page.set_default_timeout(120_000)
    page.set_viewport_size({"width": 1280, "height": 2200})  # both overview and view are visible
    page.goto(f"{url}/attention?text_a={text(0)}&text_b={text(1)}", wait_until="commit")
    page.locator(_VIEW.format("lines")).first.wait_for(state="visible")
    page.wait_for_timeout(3000)
    rows = []

    def row(name: str, key: str, act: Callable[[int], Any]) -> None:
        seconds = [timed(page, key, act, n) for n in range(ROUNDS)]
        rows.append((name, tables.spread(seconds), tables.verdict(statistics.median(seconds), AIM)))

    row("a head in the overview, to its lines", "lines", lambda n: click_head(page, n + 1))
    row("Heat map, to the map", "map", lambda _: open_view(page, "Heat map"))
    row("a head in the overview, to its heat map", "map", lambda n: click_head(page, n + 1))
    row("Neurons, to the neuron view", "neurons", lambda _: open_view(page, "Neurons"))
    row("Lines, to the lines", "lines", lambda _: open_view(page, "Lines"))
    row("a new text of 512 tokens, to its lines", "lines", lambda n: type_text(page, n + 2))
    return rows


def timed(page: Page, key: str, act: Callable[[int], Any], number: int) -> float:
    """Perform an action on the page; return the seconds until the view of that key is painted."""
    page.evaluate(_WATCH, f".st-key-attention_{key}")
    act(number)
    page.wait_for_function(_DONE, polling=50)
    return float(page.evaluate("(clock.painted - clock.begin) / 1000"))


def click_head(page: Page, number: int) -> None:
    """Click the head `number` of layer 0 or 1 in the overview; deeper random heads are uniform."""
    box = page.locator(_OVERVIEW).first.bounding_box()
    assert box is not None
    left, top = 30, 20  # margins for layer and head numbers around the 12 x 12 grid
    page.mouse.click(
        box["x"] + left + (number % 12 + 0.5) / 12 * (box["width"] - left),
        box["y"] + top + (number % 2 + 0.5) / 12 * (box["height"] - top),
    )


def open_view(page: Page, name: str) -> None:
    """Open another view first, so that the measured one is redrawn."""
    radio = page.get_by_role("radio", name=name, exact=True)
    if radio.is_checked():
        other = "Lines" if name != "Lines" else "Heat map"
        page.get_by_role("radio", name=other, exact=True).click()
        key = "lines" if other == "Lines" else "map"
        page.locator(_VIEW.format(key)).first.wait_for(state="visible")
        page.wait_for_timeout(1500)
        names = {"Heat map": "map", "Neurons": "neurons", "Lines": "lines"}
        page.evaluate(_WATCH, f".st-key-attention_{names[name]}")
    radio.click()


def type_text(page: Page, number: int) -> None:
    """Put another text into the first box and send it."""
    box = page.get_by_role("textbox").first
    box.fill(text(number))
    box.press("Control+Enter")


def text(number: int) -> str:
    """Return a text of about 300 words, so that a pair of them fills 512 tokens."""
    return " ".join(random.Random(number).choices(WORDS, k=300))
