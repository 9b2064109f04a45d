"""BertViz's views against ours, in a real Chromium: bytes sent, time to the picture, memory.

Both get the same weights of 12 layers x 12 heads. BertViz's HTML is what it writes itself, in a
frame that has d3 and jQuery in it, as in our app, but without our app's limit on tokens; ours are
the app's own components, mounted in a bare page. The clock starts when the page has the data in
memory and stops when the frame after the drawing has been shown (two animation frames). The
browser's network is cut.
"""

from __future__ import annotations

import base64
import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from playwright.sync_api import Browser, Error, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from torch import Tensor

from app.components import attention_overview, attention_view, bertviz_view, transport
from benchmarks import tables
from bertcore.analysis.heads import measure_heads
from bertcore.trace import Activations, Trace, TracedEmbeddings
from tests.browser.setup_browser import LAUNCH_FLAGS, find_browser

BERTVIZ_LENGTHS = (32, 64, 128)
OUR_LENGTHS = (32, 64, 128, 256, 512)
LAYERS, HEADS = 12, 12
TIMEOUT = 60.0
"""Seconds after which a view counts as not painted."""
ROUNDS = 3
"""Of our views; BertViz's run once above 32 tokens, as they take long."""
PART = 4_000_000
"""Characters that the browser is sent at a time."""

_COMPONENTS = Path(attention_view.__file__).parent

# What both pages answer to `start()`: seconds until the frame was shown, and the heap then.
_CLOCK = """
const shown = () => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
async function clock(draw) {
  const start = performance.now();
  await draw();
  const end = await shown();
  return (end - start) / 1000;
}
"""

_OUR_PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"><style>body {{
  --st-text-color: #1b2233; --st-background-color: #fff; --st-secondary-background-color: #f3f5fa;
  --st-primary-color: #3457d5; --st-border-color: #dce1ec; --st-font: sans-serif; }}
{css}</style></head><body><div id="place" style="width: 1100px"></div>
<script type="module">{js}</script></body></html>"""


class View(NamedTuple):
    """How one view did at one length."""

    name: str
    num_tokens: int
    num_bytes: int
    seconds: float | None
    """None if it was not painted within TIMEOUT."""
    heap: int | None
    """Bytes of JavaScript's heap after a collection; canvas pixels are not among them."""


def run() -> str:
    """Return the table of all views at all lengths."""
    views: list[View] = []
    with sync_playwright() as playwright:
        for num_tokens in OUR_LENGTHS:
            trace = random_trace(num_tokens)
            for name, page, data in our_views(trace):
                views.append(measure(playwright, name, num_tokens, page, data, ROUNDS))
            if num_tokens in BERTVIZ_LENGTHS:
                for name, draw in BERTVIZ.items():
                    html = draw(trace.attentions, trace.tokens)
                    rounds = ROUNDS if num_tokens == 32 else 1
                    views.append(measure(playwright, name, num_tokens, html, None, rounds))
    return as_table(views)


def as_table(views: list[View]) -> str:
    """Return a row for each view and length, ours after BertViz's."""
    order = [*BERTVIZ, *OURS]
    rows = [
        (
            view.name,
            str(view.num_tokens),
            tables.megabytes(view.num_bytes),
            f"not in {TIMEOUT:.0f} s"
            if view.seconds is None
            else tables.milliseconds(view.seconds),
            "" if view.heap is None else tables.megabytes(view.heap),
        )
        for view in sorted(views, key=lambda view: (order.index(view.name), view.num_tokens))
    ]
    return tables.markdown(("view", "tokens", "payload", "to the painted frame", "JS heap"), rows)


# ---- what is drawn ----


def random_trace(num_tokens: int) -> Trace:
    """Return a trace whose attention is random, as peaked as a trained BERT's."""
    generator = torch.Generator().manual_seed(num_tokens)
    scores = torch.randn(LAYERS, HEADS, num_tokens, num_tokens, generator=generator) * 2
    nothing = torch.zeros(num_tokens, 1)
    heads = torch.zeros(LAYERS, HEADS, num_tokens, 1)
    half = num_tokens // 2
    return Trace(
        text_a="",
        text_b="",
        tokens=["[CLS]", *(f"word{i}" for i in range(1, num_tokens - 1)), "[SEP]"],
        input_ids=[0] * num_tokens,
        segment_ids=[0] * half + [1] * (num_tokens - half),
        position_ids=list(range(num_tokens)),
        offsets=[(0, 0)] * num_tokens,
        text_ids=[-1, *[0] * (half - 1), *[1] * (num_tokens - half - 1), -1],
        word_ids=list(range(num_tokens)),
        truncation=None,
        activations=Activations(
            embeddings=TracedEmbeddings(nothing, nothing, nothing, nothing, nothing),
            hidden_states=torch.zeros(LAYERS + 1, num_tokens, 1),
            attentions=torch.softmax(scores, dim=-1),
            queries=heads,
            keys=heads,
            values=heads,
        ),
    )


def bertviz_head(attentions: Tensor, tokens: list[str]) -> str:
    """Return BertViz's head view, as it writes it."""
    from bertviz import head_view

    return written(head_view, attentions, tokens, layer=0)


def bertviz_model(attentions: Tensor, tokens: list[str]) -> str:
    """Return BertViz's model view, as it writes it."""
    from bertviz import model_view

    return written(model_view, attentions, tokens, display_mode="light")


def written(draw: Callable[..., Any], attentions: Tensor, tokens: list[str], **options: Any) -> str:
    """Return what BertViz writes, less its request for require.js."""
    layers = [layer[None] for layer in attentions]
    html = draw(attention=layers, tokens=tokens, html_action="return", **options).data
    return re.sub(r'<script src="https?://[^"]*"></script>', "", html)


BERTVIZ: dict[str, Callable[[Tensor, list[str]], str]] = {
    "BertViz, head view": bertviz_head,
    "BertViz, model view": bertviz_model,
}
OURS = ("ours, lines of a layer", "ours, overview of all heads")


def our_views(trace: Trace) -> list[tuple[str, str, bytes]]:
    """Return name, bare page and message of our two views."""
    summary = attention_overview.Summary(
        transport.thumbnails(trace.attentions),
        measure_heads(trace.attentions, trace.text_ids, trace.tokens),
    )
    names = [f"attention_{name}.js" for name in attention_view._SCRIPTS]
    return [
        (OURS[0], bare_page(names, "attention_view.css"), attention_view.message(trace, 0, [])),
        (
            OURS[1],
            bare_page(["attention_overview.js"], "attention_overview.css"),
            attention_overview.message(summary, trace.num_tokens, 0, []),
        ),
    ]


def bare_page(scripts: list[str], style: str) -> str:
    """Return a page that holds a component and draws it when `start(data)` is called."""
    js = transport.SHARED_JS + "".join(
        (_COMPONENTS / name).read_text(encoding="utf-8") for name in scripts
    )
    js = js.replace("export default function", "window.component = function", 1)
    css = (_COMPONENTS / style).read_text(encoding="utf-8")
    mount = """
      window.arrived = (text) => {
        window.data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      };
      window.start = () => clock(() => window.component({
        data: window.data, parentElement: document.getElementById("place"),
        setStateValue() {}, setTriggerValue() {} }));
    """
    return _OUR_PAGE.format(css=css, js=_CLOCK + js + mount)


# ---- measuring ----


def measure(
    playwright: Any, name: str, num_tokens: int, html: str, data: bytes | None, rounds: int
) -> View:
    """Draw a view `rounds` times, each in a fresh browser; return the median.

    Args:
        playwright: Running.
        name, num_tokens: For the table.
        html: A bare page of ours, or BertViz's page, which holds its data.
        data: Our message, or None for BertViz.
        rounds: How often.
    """
    num_bytes = len(html.encode()) if data is None else len(data)
    seconds, heap = [], None
    for _ in range(rounds):
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()),
            args=[*LAUNCH_FLAGS, "--enable-precise-memory-info", "--js-flags=--expose-gc"],
        )
        try:
            found = draw_once(browser, html, data)
        except (PlaywrightTimeout, Error) as error:
            if not isinstance(error, PlaywrightTimeout) and "crash" not in str(error).lower():
                raise
            return View(name, num_tokens, num_bytes, None, None)
        finally:
            browser.close()
        seconds.append(found[0])
        heap = found[1]
    return View(name, num_tokens, num_bytes, statistics.median(seconds), heap)


def send(page: Page, html: str) -> None:
    """Give a page a text as `window.html`, in parts: the browser drops one message of 100 MB."""
    page.evaluate("() => { window.html = ''; }")
    for start in range(0, len(html), PART):
        page.evaluate("(part) => { window.html += part; }", html[start : start + PART])


def draw_once(browser: Browser, html: str, data: bytes | None) -> tuple[float, int]:
    """Return the seconds to the painted frame and the heap's bytes, of one drawing."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.route("**/*", lambda route: route.abort())  # whoever asks anybody gets nothing
    if data is None:
        page.set_content("<!DOCTYPE html><script>" + _CLOCK + "</script>")
        libraries = f"<script>{bertviz_view._libraries()}{bertviz_view._REQUIRE}</script>"
        send(page, f"<!DOCTYPE html>{libraries}{html}")
        draw = """() => clock(() => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.style.cssText = "width: 1200px; height: 800px";
          frame.onload = done;
          frame.srcdoc = window.html;
          delete window.html;
          document.body.append(frame);
        }))"""
    else:
        page.set_content(html)
        page.wait_for_function("window.start !== undefined")
        page.evaluate("window.arrived(" + json.dumps(base64.b64encode(data).decode()) + ")")
        draw = "() => window.start()"
    page.evaluate(f"() => {{ ({draw})().then((s) => {{ window.seconds = s; }}); }}")
    page.wait_for_function("window.seconds !== undefined", polling=20)
    seconds = float(page.evaluate("window.seconds"))
    is_drawn = """() => {
      const inner = document.querySelector("iframe")?.contentDocument;
      if (inner) return inner.querySelectorAll("line").length > 0;
      return document.querySelector("canvas").width > 100;
    }"""
    if problems or not page.evaluate(is_drawn):
        raise RuntimeError(
            f"a view drew nothing; its page says: {'; '.join(problems) or 'nothing'}"
        )
    heap = int(page.evaluate("() => { gc(); return performance.memory.usedJSHeapSize; }"))
    return seconds, heap
