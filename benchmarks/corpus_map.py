"""The map of a corpus in a real Chromium: bytes sent, time to the picture, frames per second.

Points of a mixture of Gaussians at three layers, in the app's own component on a bare page,
offline. While the map is zoomed in and out, or the points move to another layer, each frame is
drawn, read back (so that rendering has finished) and counted. Without a graphics card, Chromium
renders in software.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from app.layer_map.corpus.points import MAX_GROUPS, Colours, Drawn
from app.plots import theme
from benchmarks import tables
from bertcore.analysis.space.corpus_map import CorpusMap, dense_regions
from bertcore.analysis.space.map_quality import Faithfulness
from tests.support.browser import bare_view
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

SIZES = (20_000, 50_000, 200_000)
LAYERS = (0, 6, 12)
SECONDS = 4.0
AIM = 10.0
"""Frames per second when rendering in software."""

_FRAMES = """async ([what, seconds]) => {
  const root = document.getElementById("place").shadowRoot;
  const field = root.querySelector(".field");
  const gl = field.querySelector("canvas").getContext("webgl2");
  const range = root.querySelector("input[type=range]");
  const box = field.getBoundingClientRect();
  const pixel = new Uint8Array(4);
  const start = performance.now();
  let frames = 0;
  while (performance.now() - start < 1000 * seconds) {
    if (what === "zoom") {
      field.dispatchEvent(new WheelEvent("wheel", {
        deltaY: frames % 40 < 20 ? -40 : 40, clientX: box.left + 400, clientY: box.top + 250,
        bubbles: true, cancelable: true }));
    } else if (frames % 20 === 0) {
      range.value = String((Number(range.value) + 1) % 3);
      range.dispatchEvent(new Event("input"));
    }
    await new Promise((done) => requestAnimationFrame(done));
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    frames += 1;
  }
  return frames / ((performance.now() - start) / 1000);
}"""
_RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return "none";
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}"""


def run() -> str:
    """Return the table of all sizes."""
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()), args=list(LAUNCH_FLAGS)
        )
        for num in SIZES:
            page = browser.new_context(
                viewport={"width": 1280, "height": 900}, offline=True
            ).new_page()
            rows.append(_measured(page, num))
        renderer = page.evaluate(_RENDERER)
        browser.close()
    columns = (
        "points, 3 layers",
        "payload",
        "time to the picture",
        "zooming",
        "playing",
        f"aim {AIM:g}",
    )
    return f"Drawn by: {renderer}\n\n{tables.markdown(columns, rows)}"


def _measured(page: Page, num: int) -> tuple[str, ...]:
    view = bare_view.point_map_view(made_points(num), made_colours(num))
    page.set_content(view.page)
    page.wait_for_function("window.draw !== undefined")
    page.evaluate(view.arrival)
    seconds: Any = page.evaluate(
        """async () => {
          const start = performance.now();
          await window.draw();
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
          return (performance.now() - start) / 1000;
        }"""
    )
    rates = [page.evaluate(_FRAMES, [what, SECONDS]) for what in ("zoom", "play")]
    return (
        f"{num:,}",
        tables.megabytes(len(view.data)),
        tables.milliseconds(seconds),
        *(f"{rate:.1f} frames/s" for rate in rates),
        "reached" if min(rates) >= AIM else "missed",
    )


def made_points(num: int) -> Drawn:
    """Return points in 40 clouds that move from layer to layer."""
    rng = np.random.default_rng(num)
    clouds = rng.integers(0, 40, num)
    centres = rng.uniform(0.1, 0.9, (len(LAYERS), 40, 2))
    unit = np.clip(centres[:, clouds] + rng.normal(0, 0.03, (len(LAYERS), num, 2)), 0, 1)
    words = tuple(f"word{i}" for i in range(20_000))
    word_ids = (clouds * 500 + rng.integers(0, 500, num)).astype(np.uint32)
    names = np.array(words, dtype=object)[word_ids]
    nothing = np.full(len(LAYERS), np.nan)
    quality = Faithfulness(nothing, nothing, nothing, 0, 0, np.zeros(len(LAYERS), np.int64))
    shape = CorpusMap(LAYERS, np.arange(num), unit.astype(np.float32), unit[:, 0], quality, num, 0)
    regions = tuple(dense_regions(place, names.tolist()) for place in unit)
    return Drawn(shape, np.round(unit * 65535).astype(np.uint16), words, word_ids, regions)


def made_colours(num: int) -> Colours:
    """Return as many groups as have their own colour on the map."""
    codes = np.random.default_rng(0).integers(0, MAX_GROUPS, num).astype(np.uint8)
    groups = tuple(f"group {i}" for i in range(MAX_GROUPS))
    return Colours("made", groups, tuple(theme.CATEGORICAL[:MAX_GROUPS]), codes, False)
