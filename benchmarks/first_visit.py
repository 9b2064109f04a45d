"""Seconds of the first visit to each page of a server, until its picture is there.

The server has loaded its checkpoint (a visitor has opened the first page) and nothing else. Each
visit is a new browser session that can reach only the app. The picture is the first that is drawn
from numbers; a strip of tokens is none. The floor is an empty page of ten elements, until its last
one is there: Streamlit's own files, read by a browser that has none of them.
"""

import contextlib
import os
import statistics
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from app.navigation import DOOR, PAGES
from app.server.policy import CHECKPOINT_VARIABLE
from benchmarks import empty_page, tables
from benchmarks.page_speed import new_page
from tests.support.browser.running import running_app
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser

AIM, OF_FLOOR, TIMEOUT = 2.0, 2.0, 30.0
PICTURES = (
    "canvas, svg.main-svg, table, [data-testid='stDataFrame'], [data-testid='stMetric'], "
    ".panel svg, .flow .token, .stage .sentence, .st-key-lesson_list button"
)
LAST_ELEMENT = "text=/^7: /"


def run() -> str:
    """Return the table of first visits by page."""
    with (
        running_app(os.environ.get(CHECKPOINT_VARIABLE)) as app,
        running_app(script=Path(empty_page.__file__)) as empty,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=str(find_browser()), args=list(LAUNCH_FLAGS)
        )
        visits = [_seconds(browser, empty.url, "", LAST_ELEMENT) for _ in range(3)]
        floor = statistics.median(seconds for seconds in visits if seconds is not None)
        names = [page.name for folder, page in PAGES.items() if folder != DOOR]
        rows = [("floor: an empty page", f"{floor:.2f} s", "", "1.0", "")]
        rows += [(name, *_row(_seconds(browser, app.url, name), floor)) for name in names]
        browser.close()
    columns = ("page", "first visit, to its picture", f"aim {AIM:.0f} s", "of the floor", "aim 2.0")
    return tables.markdown(columns, rows)


def _seconds(browser: Browser, url: str, name: str, drawn: str = PICTURES) -> float | None:
    """Return the seconds from requesting a page until its picture is visible; None if it is not."""
    with new_page(browser, url) as page:
        start = time.perf_counter()
        page.goto(f"{url}/{name}", wait_until="commit")
        pictures = page.get_by_test_id("stMain").locator(drawn).locator("visible=true")
        with contextlib.suppress(PlaywrightTimeout):
            pictures.first.wait_for(state="visible", timeout=TIMEOUT * 1000)
            return time.perf_counter() - start
    return None


def _row(seconds: float | None, floor: float) -> tuple[str, str, str, str]:
    if seconds is None:
        return f"not in {TIMEOUT:.0f} s", "missed", "", "missed"
    times = seconds / floor
    shown = f"{seconds:.2f} s", tables.verdict(seconds, AIM)
    return *shown, f"{times:.1f}", tables.verdict(times, OF_FLOOR)
