"""BERT in one HTML file: size, time to the first picture, a keystroke to the changed one, memory.

The file is opened from the disk in Chromium, each time in a new browser session. A keystroke adds
a letter to the last word of text A; its time ends when the overview of the heads is drawn anew,
and that of BERT at a glance when its picture is. Memory is what the process of the page and its
worker has for itself after the longest text.
"""

import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.live.live_file import FORMS, live_file
from benchmarks import tables
from bertcore import load
from bertcore.model.bert import with_parts
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

LENGTHS = (8, 26, 64, 128, 512)
ROUNDS, KEYS = 5, 9
SIZE_AIM, OPEN_AIM, KEY_AIM, MEMORY_AIM = 14e6, 2.0, 0.15, 250e6
TIMEOUT = 120_000


WORDS = "the river bank was steep and".split()

# Notes when the drawings are painted after a keystroke: each view clears its canvas first.
_WATCH = """
const times = window.liveSeconds = {};
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  const host = this.canvas.getRootNode().host?.closest("section")?.querySelector("h2")?.textContent;
  if (host) times[host] = performance.now();
  return clear.apply(this, box);
};
document.addEventListener("input", () => {
  for (const name of Object.keys(times)) delete times[name];
  times.typed = performance.now();
}, { capture: true });
"""


def run() -> str:
    """Return the tables of sizes, of opening and typing, and of memory."""
    bert = with_parts(load("default", device="cpu"))
    files = {form: live_file(bert, form).encode() for form in FORMS}
    sizes = [
        (form, tables.megabytes(len(file)), tables.verdict(len(file), SIZE_AIM))
        for form, file in files.items()
    ]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "bert.html"
        path.write_bytes(files[FORMS[0]])
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()), args=list(LAUNCH_FLAGS)
        )
        opened = [_opened(browser, path) for _ in range(ROUNDS)]
        page = new_page(browser, path)
        typed = [_typed(page, length) for length in LENGTHS]
        page.wait_for_timeout(3000)
        memory = _memory(browser)
        browser.close()
    first = ("opening", tables.spread(opened), tables.verdict(statistics.median(opened), OPEN_AIM))
    held = ("memory after 512 tokens", tables.megabytes(memory), tables.verdict(memory, MEMORY_AIM))
    columns = ("tokens", "heads, median (range)", f"aim {KEY_AIM * 1e3:.0f} ms", "glance, median")
    return "\n\n".join(
        (
            tables.markdown(("weights", "size", "aim 14 MB"), sizes),
            tables.markdown(("", "measured", f"aims {OPEN_AIM:.0f} s, 250 MB"), [first, held]),
            tables.markdown(columns, typed),
        )
    )


def new_page(browser: Browser, path: Path) -> Page:
    """Return a page of a new session, when its first pictures are drawn."""
    page = browser.new_context(offline=True, viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(TIMEOUT)
    page.add_init_script(_WATCH)
    page.goto(path.as_uri())
    _times(page, "Attention of all heads")
    return page


def _opened(browser: Browser, path: Path) -> float:
    start = time.perf_counter()
    page = new_page(browser, path)
    seconds = time.perf_counter() - start
    page.context.close()
    return seconds


def _times(page: Page, *names: str) -> dict[str, float]:
    """Return when each picture was painted, once it was."""
    deadline = time.monotonic() + TIMEOUT / 1e3
    while time.monotonic() < deadline:
        found: dict[str, float] = page.evaluate("window.liveSeconds")
        if all(name in found for name in names):
            return found
        page.wait_for_timeout(10)
    raise TimeoutError(f"the pictures {', '.join(names)} were not drawn")


def _text(length: int) -> str:
    """Return a text that has `length` tokens after a letter more, which is a piece of its own."""
    return " ".join(WORDS[k % len(WORDS)] for k in range(length - 3))


def _typed(page: Page, length: int) -> tuple[str, ...]:
    heads, glances = _keys(page, length)
    return (
        str(length),
        tables.spread(heads),
        tables.verdict(statistics.median(heads), KEY_AIM),
        tables.milliseconds(statistics.median(glances)),
    )


def _keys(page: Page, length: int) -> tuple[list[float], list[float]]:
    """Return the seconds to each picture of some keystrokes."""
    page.get_by_label("Text B").fill("")
    box = page.get_by_label("Text A")
    box.fill(_text(length))
    heads, glances = "Attention of all heads", "BERT at a glance"
    rounds: dict[str, list[float]] = {heads: [], glances: []}
    for key in range(KEYS):
        _times(page, heads, glances)
        page.wait_for_timeout(300)
        box.press("End")
        box.press("s" if key % 2 == 0 else "Backspace")
        found = _times(page, heads, glances)
        for name, seconds in rounds.items():
            seconds.append((found[name] - found["typed"]) / 1e3)
    return rounds[heads], rounds[glances]


def _memory(browser: Browser) -> float:
    """Return the bytes that the process of the page and its worker has for itself (RssAnon)."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = []
    for process in found:
        if process["type"] == "renderer":
            status = Path(f"/proc/{process['id']}/status").read_text(encoding="ascii")
            sizes.append(1024 * int(status.split("RssAnon:")[1].split()[0]))
    return float(max(sizes))
