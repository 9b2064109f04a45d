"""Speed of the real app: opening each page on a warm server, and editing the sentence.

The app runs as a visitor starts it, with BERTSCOPE_CHECKPOINT or the shipped checkpoint. Every page
is visited once before (a warm server); each measured visit is a new browser session that has an
empty cache and can reach only the app. A page counts as open when its first pictures are drawn. An
edit inserts a word before the sentence and is timed until the token strip, and the picture below
it, show it.
"""

import contextlib
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from app.server.policy import CHECKPOINT_VARIABLE
from benchmarks import tables
from tests.support.browser.running import running_app
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

OPEN_AIM, EDIT_AIM = 2.0, 0.2
ROUNDS, EDITS = 5, 9
TIMEOUT = 60.0

_STRIP, _CHART = ".strip .word", ".js-plotly-plot .main-svg"
FIRST_PICTURES = {
    "glance": (".glance canvas",),
    "tokens": (_STRIP, _CHART),
    "attention": (".overview canvas", ".view canvas"),
    "masked-words": (_STRIP, _CHART),
    "sentence-pairs": (_CHART,),
    "layer-map": (_CHART,),
    "checkpoints": ("[data-testid=stDataFrame]",),
}
"""Elements that must be drawn before a page counts as open."""

WORDS = ("water", "music", "winter", "money", "today", "people", "green", "north", "seven")

# Checks the components' shadow roots at each frame until the watched parts have changed.
_WATCH = """() => {
  const find = (root, selector) => {
    const match = root.querySelector(selector);
    if (match) return match;
    for (const node of root.querySelectorAll("*")) {
      const inner = node.shadowRoot && find(node.shadowRoot, selector);
      if (inner) return inner;
    }
    return null;
  };
  const read = {
    strip: () => find(document, ".strip .words")?.textContent,
    chart: () => document.querySelector(".js-plotly-plot .main-svg")?.textContent,
  };
  const before = Object.fromEntries(Object.entries(read).map(([name, f]) => [name, f()]));
  const edit = (window.edit = { before });
  document.addEventListener("input", () => { edit.typed = performance.now(); }, { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.isTrusted && event.ctrlKey && event.key === "Enter") edit.sent = performance.now();
  }, { capture: true });
  const look = () => {
    for (const [name, f] of Object.entries(read)) {
      const now = f();
      if (edit.typed && !edit[name] && now && now !== before[name]) edit[name] = performance.now();
    }
    if (!edit.strip || !edit.chart) requestAnimationFrame(look);
  };
  look();
}"""


def run() -> str:
    """Return the tables of opening and of editing."""
    source = os.environ.get(CHECKPOINT_VARIABLE)
    with running_app(source) as app, sync_playwright() as playwright:
        url = app.url
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()), args=list(LAUNCH_FLAGS)
        )
        for name in FIRST_PICTURES:
            with contextlib.suppress(PlaywrightTimeout):  # the measured visits will show it
                open_page(browser, url, name)
        opened = [open_row(browser, url, name) for name in FIRST_PICTURES]
        edited = edit_rows(browser, url)
        browser.close()
    opening = ("opening", "time to the first pictures, median (range)", f"aim {OPEN_AIM:.0f} s")
    editing = ("editing the sentence", "median (range)", f"aim {EDIT_AIM * 1e3:.0f} ms")
    return "\n\n".join(
        (
            f"Checkpoint: {f'the folder {Path(source).name}' if source else 'the shipped one'}.",
            tables.markdown(opening, opened),
            tables.markdown(editing, edited),
        )
    )


# ---- opening ----


@contextlib.contextmanager
def new_page(browser: Browser, url: str) -> Iterator[Page]:
    """Yield an empty page of a new session that can reach only the app."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.route(
        lambda address: address.startswith("http") and not address.startswith(url),
        lambda route: route.abort(),
    )
    try:
        page = context.new_page()
        page.set_default_timeout(TIMEOUT * 1000)
        yield page
    finally:
        context.close()


def address(url: str, name: str) -> str:
    """Return the address of a page."""
    return f"{url}/{name}"


def open_page(browser: Browser, url: str, name: str) -> float:
    """Return the seconds from requesting a page until its first pictures are drawn."""
    with new_page(browser, url) as page:
        start = time.perf_counter()
        page.goto(address(url, name), wait_until="commit")
        wait_for_pictures(page, name)
        return time.perf_counter() - start


def wait_for_pictures(page: Page, name: str) -> None:
    """Wait until the first pictures of a page are visible."""
    for selector in FIRST_PICTURES[name]:
        page.locator(selector).first.wait_for(state="visible")


def open_row(browser: Browser, url: str, name: str) -> tuple[str, str, str]:
    """Open a page `ROUNDS` times; return a row of the table."""
    try:
        seconds = [open_page(browser, url, name) for _ in range(ROUNDS)]
    except PlaywrightTimeout:
        return name, f"not in {TIMEOUT:.0f} s", "missed"
    return name, tables.spread(seconds), tables.verdict(statistics.median(seconds), OPEN_AIM)


# ---- editing ----


def edit_rows(browser: Browser, url: str) -> list[tuple[str, str, str]]:
    """Edit the sentence on the page Tokens; return the rows of the table."""
    times: dict[str, list[float]] = {}
    with new_page(browser, url) as page:
        page.goto(address(url, "tokens"))
        wait_for_pictures(page, "tokens")
        page.wait_for_timeout(1500)
        for word in WORDS[:EDITS]:
            for how in ("sent with Ctrl+Enter", "typing rests"):
                for picture, seconds in edit_once(page, word, send=how.startswith("sent")).items():
                    times.setdefault(f"{how}, to the {picture}", []).append(seconds)
    return [
        (what, tables.spread(seconds), tables.verdict(statistics.median(seconds), EDIT_AIM))
        for what, seconds in times.items()
    ]


def edit_once(page: Page, word: str, *, send: bool) -> dict[str, float]:
    """Insert a word before sentence A; return the seconds until strip and chart show it.

    Args:
        page: The page Tokens, idle.
        word: Word to type.
        send: Press Ctrl+Enter and time from that key; else time from the last letter and let the
            app detect that typing has stopped.
    """
    box = page.locator("textarea").first
    box.click()
    page.keyboard.press("Control+Home")
    page.evaluate(_WATCH)
    page.keyboard.type(f"{word} " if send else f"the {word} ")
    if send:
        page.keyboard.press("Control+Enter")
    with contextlib.suppress(PlaywrightTimeout):
        page.wait_for_function("edit.strip && edit.chart", polling=50, timeout=TIMEOUT * 1000)
    times: dict[str, Any] = page.evaluate("window.edit")
    missing = [name for name in ("strip", "chart") if name not in times]
    if missing:
        raise RuntimeError(f"after an edit the {' and the '.join(missing)} did not change.")
    page.wait_for_timeout(800)  # the rest of the page, and the pause that sends the text again
    start = times["sent" if send else "typed"]
    return {
        "token strip": (times["strip"] - start) / 1000,
        "picture under it": (times["chart"] - start) / 1000,
    }
