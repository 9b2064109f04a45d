"""BertViz's views against ours, in a real Chromium: bytes sent, time to the picture, memory.

Both get the same attention weights of 12 layers x 12 heads. BertViz's HTML is shown as it writes
it, in a frame that contains d3 and jQuery, as in our app but without our limit on tokens; ours are
the app's own components, mounted on a bare page. The clock starts when the page has the data in
memory and stops when the frame after drawing has been shown (two animation frames). The browser is
offline.

BertViz is stopped or skipped beyond the limits TIMEOUT and MAX_HTML; the table then states what
happened, or that it was not tried and how large it would have been.
"""

import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Error, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from torch import Tensor

from app.parts.bertviz_views import view as bertviz_view
from benchmarks import tables
from bertcore.model.trace import Trace
from tests.support.browser import bare_view
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

LAYERS, HEADS = 12, 12
TIMEOUT = 120.0
"""Seconds after which a view counts as not painted."""
MAX_HTML = 400_000_000
"""Largest HTML in bytes that is tried. With 425 million (256 tokens), Chromium had painted
nothing after eight minutes, used 13.8 GB and no longer reacted to the timeout."""
BYTES_A_WEIGHT = 45
"""About what BertViz writes per weight (twice 22 digits), to estimate the size without writing."""
ROUNDS = 3
"""Of our views; BertViz's run once above 32 tokens, since they are slow."""
PART = 4_000_000
"""Characters sent to the browser at a time."""


class Options:
    """Set by the command line."""

    lengths: tuple[int, ...] = (32, 64, 128, 256, 512)
    """Numbers of tokens."""


OPTIONS = Options()

# Both pages report through `clock()` the seconds until the frame was shown.
_CLOCK = """() => {
  window.clock = async (draw) => {
    const start = performance.now();
    await draw();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return (performance.now() - start) / 1000;
  };
}"""


class View(NamedTuple):
    """Result of one view at one length."""

    name: str
    num_tokens: int
    num_bytes: int
    outcome: str = ""
    """Why there is no time; empty if there is one."""
    seconds: float | None = None
    heap: int | None = None
    """Bytes of the JavaScript heap after a garbage collection, without canvas pixels."""
    resident: int | None = None
    """Bytes of main memory of the tab's process at the end; None if not reported by the system."""


def run() -> str:
    """Return the table of all views at all lengths."""
    views: list[View] = []
    with sync_playwright() as playwright:
        for num_tokens in sorted(OPTIONS.lengths):
            trace = random_trace(num_tokens)
            for name, draw in OURS.items():
                view = draw(trace)
                views.append(measure(playwright, name, num_tokens, view, ROUNDS))
            for name, write in BERTVIZ.items():
                views.append(measure_bertviz(playwright, name, write, trace, views))
    return as_table(views)


def measure_bertviz(
    playwright: Any, name: str, write: Callable[..., str], trace: Trace, before: list[View]
) -> View:
    """Return the result of one of BertViz's views, or why it was not tried.

    Args:
        playwright: Running.
        name, write: Of BERTVIZ.
        trace: What to draw.
        before: Results of the shorter texts.
    """
    expected = LAYERS * HEADS * trace.num_tokens**2 * BYTES_A_WEIGHT
    failed = [view for view in before if view.name == name and view.seconds is None]
    if failed:
        why = f"not tried: failed at {failed[0].num_tokens} tokens"
        return View(name, trace.num_tokens, expected, why)
    if expected > MAX_HTML:
        return View(name, trace.num_tokens, expected, f"not tried: over {MAX_HTML / 1e6:.0f} MB")
    html = write(trace.attentions, trace.tokens)
    return measure(
        playwright, name, trace.num_tokens, html, ROUNDS if trace.num_tokens <= 32 else 1
    )


def as_table(views: list[View]) -> str:
    """Return a row for each view and length, ours after BertViz's."""
    order = [*BERTVIZ, *OURS]
    rows = [
        (
            view.name,
            str(view.num_tokens),
            ("about " if view.outcome.startswith("not tried") else "")
            + tables.megabytes(view.num_bytes),
            view.outcome if view.seconds is None else tables.milliseconds(view.seconds),
            "" if view.heap is None else tables.megabytes(view.heap),
            "" if view.resident is None else tables.megabytes(view.resident),
        )
        for view in sorted(views, key=lambda view: (order.index(view.name), view.num_tokens))
    ]
    columns = ("view", "tokens", "payload", "time to the painted frame", "JS heap", "tab's memory")
    return tables.markdown(columns, rows)


# ---- what is drawn ----


def random_trace(num_tokens: int) -> Trace:
    """Return a trace with random attention, as peaked as that of a trained BERT."""
    tokens = ["[CLS]", *(f"word{i}" for i in range(1, num_tokens - 1)), "[SEP]"]
    return bare_view.made_trace(tokens, num_layers=LAYERS, num_heads=HEADS, second=num_tokens // 2)


def bertviz_head(attentions: Tensor, tokens: list[str]) -> str:
    """Return BertViz's head view, as it writes it."""
    from bertviz import head_view

    return written(head_view, attentions, tokens, layer=0)


def bertviz_model(attentions: Tensor, tokens: list[str]) -> str:
    """Return BertViz's model view, as it writes it."""
    from bertviz import model_view

    return written(model_view, attentions, tokens, display_mode="light")


def written(draw: Callable[..., Any], attentions: Tensor, tokens: list[str], **options: Any) -> str:
    """Return what BertViz writes, without its request for require.js."""
    layers = [layer[None] for layer in attentions]
    html = draw(attention=layers, tokens=tokens, html_action="return", **options).data
    return re.sub(r'<script src="https?://[^"]*"></script>', "", html)


BERTVIZ: dict[str, Callable[[Tensor, list[str]], str]] = {
    "BertViz, head view": bertviz_head,
    "BertViz, model view": bertviz_model,
}
OURS: dict[str, Callable[[Trace], bare_view.View]] = {
    "ours, lines of all heads of a layer": bare_view.lines_view,
    "ours, lines of a head": lambda trace: bare_view.lines_view(trace, 0, [0]),
    "ours, heat map of a head": bare_view.heat_map_view,
    "ours, overview of all heads": bare_view.overview_view,
}


# ---- measuring ----


def measure(
    playwright: Any, name: str, num_tokens: int, drawn: bare_view.View | str, rounds: int
) -> View:
    """Draw a view `rounds` times, each in a fresh browser; return the median.

    Args:
        playwright: Running.
        name, num_tokens: For the table.
        drawn: A view of ours, or BertViz's page, which contains its data.
        rounds: Number of drawings.
    """
    num_bytes = len(drawn.encode()) if isinstance(drawn, str) else len(drawn.data)
    drawings: list[Drawing] = []
    for _ in range(rounds):
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=[*LAUNCH_FLAGS, "--enable-precise-memory-info", "--js-flags=--expose-gc"],
        )
        try:
            drawings.append(draw_once(browser, drawn))
        except PlaywrightTimeout:
            return View(name, num_tokens, num_bytes, f"not in {TIMEOUT:.0f} s")
        except Error as error:
            if not re.search("crash|closed|out of memory|too large", str(error), re.I):
                raise
            return View(name, num_tokens, num_bytes, "failed: the tab crashed")
        finally:
            browser.close()
    seconds = statistics.median(drawing.seconds for drawing in drawings)
    return View(name, num_tokens, num_bytes, "", seconds, drawings[-1].heap, drawings[-1].resident)


class Drawing(NamedTuple):
    """One drawing of one view."""

    seconds: float
    heap: int
    resident: int | None


def send(page: Page, html: str) -> None:
    """Set `window.html` of a page, in parts: the browser drops a message of 100 MB."""
    page.evaluate("() => { window.html = ''; }")
    for start in range(0, len(html), PART):
        page.evaluate("(part) => { window.html += part; }", html[start : start + PART])


def draw_once(browser: Browser, drawn: bare_view.View | str) -> Drawing:
    """Draw a view in a new tab, and measure."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.route("**/*", lambda route: route.abort())  # every request fails
    if isinstance(drawn, str):
        page.set_content("<!DOCTYPE html>")
        libraries = f"<script>{bertviz_view.libraries()}</script>"
        send(page, f"<!DOCTYPE html>{libraries}{drawn}")
        draw = """() => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.style.cssText = "width: 1200px; height: 800px";
          frame.onload = done;
          frame.srcdoc = window.html;
          delete window.html;
          document.body.append(frame);
        })"""
    else:
        page.set_content(drawn.page)
        page.wait_for_function("window.draw !== undefined")
        page.evaluate(drawn.arrival)
        draw = "() => window.draw()"
    page.evaluate(_CLOCK)
    page.evaluate(f"() => {{ clock({draw}).then((s) => {{ window.seconds = s; }}); }}")
    page.wait_for_function("window.seconds !== undefined", polling=20)
    seconds = float(page.evaluate("window.seconds"))
    is_drawn = """() => {
      const inner = document.querySelector("iframe")?.contentDocument;
      if (inner) return inner.querySelectorAll("line").length > 0;
      return document.querySelector("#place").shadowRoot.querySelector("canvas").width > 100;
    }"""
    if problems or not page.evaluate(is_drawn):
        raise RuntimeError(
            f"a view drew nothing; its page reports: {'; '.join(problems) or 'nothing'}"
        )
    resident = resident_bytes(browser)
    heap = int(page.evaluate("() => { gc(); return performance.memory.usedJSHeapSize; }"))
    return Drawing(seconds, heap, resident)


def resident_bytes(browser: Browser) -> int | None:
    """Return the main memory of the largest tab's process; None if not reported by the system."""
    answer = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    tabs = [process["id"] for process in answer["processInfo"] if process["type"] == "renderer"]
    sizes = []
    for tab in tabs:
        try:
            status = Path(f"/proc/{tab}/status").read_text(encoding="utf-8")
        except OSError:
            return None
        known = re.search(r"VmRSS:\s+(\d+) kB", status)
        sizes.append(int(known[1]) * 1024 if known else 0)
    return max(sizes, default=None)
