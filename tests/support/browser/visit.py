"""A visitor's tab: opens pages, waits until they are drawn, and notes what must not happen."""

import re
import time
from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import (
    ConsoleMessage,
    Download,
    Locator,
    Page,
    Request,
    WebError,
    WebSocket,
    expect,
)
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from app.navigation import DOOR, PAGES

TIMEOUT_MS = 60_000
"""Longer than anything should take: a slow machine is no finding."""

TRY_MS = 5_000
"""After it a list or menu that was opened counts as closed by the page, and is opened again."""

TITLES = {page.name: page.title for page in PAGES.values()}
FIRST = "glance"
"""The page that a test opens if it names none: the walk, with the sentence box."""
TEXT_PAGES = tuple(page.name for page in PAGES.values() if page.needs_text)
"""Pages with the sentence box."""

TEXT_A = "The man went to the river bank and was steep"
TEXT_B = "It had rained all night"
"""Whole words of the tiny vocabulary, so that the tests can name tokens."""

HARMLESS = (
    # Opened at /attention, Streamlit looks for its server below /attention first, then at the root.
    re.compile(r"404 \(Not Found\) .*/[a-z-]+/_stcore/(health|host-config)$"),
)
"""Errors of the console that are proven to mean nothing."""

_DRAWN = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app?.dataset.testConnectionState === "CONNECTED"
    && app.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stSkeleton"]')
    && !document.querySelector('[data-stale="true"]')
    && !document.getElementById("first-door");
}"""


_INKED = """canvas => canvas.width && canvas.getContext("2d")
  .getImageData(0, 0, canvas.width, canvas.height).data
  .some((value, at) => at % 4 === 3 && value > 0)"""


def _until_it_works(act: Callable[[], None]) -> None:
    """Do what a page that moves under it may cut short, again until nothing does."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while True:
        try:
            return act()
        except PlaywrightTimeout:
            if time.monotonic() > deadline:
                raise


class Visit:
    """One tab of the app at `url`; its context belongs to this visitor alone."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.context, self.url = page, page.context, url
        self.first_page = page
        """Which stays open when the visitor leaves; `page` may become another tab."""
        self.foreign: list[str] = []
        """Addresses of other hosts that were asked for; no such host is found (LAUNCH_FLAGS).

        Playwright's `route` would cut them too, and turns the browser's cache off: half a second
        more for each page.
        """
        self.complaints: list[str] = []
        """Errors in the console and uncaught ones."""
        self.context.set_default_timeout(TIMEOUT_MS)
        self.context.on("request", self._note)
        self.context.on("console", self._hear)
        self.context.on("weberror", self._catch)
        page.on("websocket", self._note)

    def _note(self, asked: Request | WebSocket) -> None:
        ours = (f"{self.url}/", f"{self.url}/".replace("http", "ws", 1), "data:", "blob:", "about:")
        if not asked.url.startswith(ours):
            self.foreign.append(asked.url)

    def _catch(self, error: WebError) -> None:
        self.complaints.append(str(error.error))

    def _hear(self, message: ConsoleMessage) -> None:
        said = f"{message.text} {message.location['url']}"
        if message.type == "error" and not any(known.search(said) for known in HARMLESS):
            self.complaints.append(said)

    def leave(self) -> None:
        """Leave the app and forget what it stored; the first tab alone stays open."""
        page = self.first_page
        for other in self.context.pages:
            if other is not page:
                other.close()
        if page.url.startswith(self.url):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        self.context.clear_cookies()
        self.context.remove_listener("request", self._note)
        self.context.remove_listener("console", self._hear)
        self.context.remove_listener("weberror", self._catch)
        page.remove_listener("websocket", self._note)

    def check_complaints(self) -> None:
        """Make sure that no other host was asked and nothing complained."""
        assert self.foreign == [], f"asked another host: {self.foreign}"
        assert self.complaints == [], f"the console said: {self.complaints}"

    # ---- going places ----

    def open(self, name: str = FIRST, **query: str | list[str]) -> None:
        """Open a page by its address and wait until it is drawn."""
        path = "" if name == DOOR else name  # the door is at the root
        self.follow(f"{self.url}/{path}?{urlencode(query, doseq=True)}", name)

    def follow(self, link: str, name: str) -> None:
        """Open a link that leads to the page `name` and wait until it is drawn."""
        self.page.goto(link, wait_until="domcontentloaded")
        self.arrive(name)

    def go_to(self, name: str) -> None:
        """Choose a page in the sidebar and wait until it is drawn."""
        link, more = self.entry(name), self.page.locator(".more-tools:not([open]) summary")

        def follow() -> None:
            if not link.is_visible() and more.is_visible():
                more.click(timeout=TRY_MS)
            link.click(timeout=TRY_MS)

        _until_it_works(follow)
        self.arrive(name)

    def entry(self, name: str) -> Locator:
        """Return a page's entry in the menu, in view or under *More tools*."""
        path = "" if name == DOOR else name
        return self.page.locator(f'[data-testid="stSidebarNavLink"][href="{self.url}/{path}"]')

    def arrive(self, name: str) -> None:
        """Wait until the page `name`, or a step of a lesson on it, is open and drawn."""
        title = self.page.get_by_role("heading", level=1, name=TITLES[name], exact=True)
        step = self.page.locator(".st-key-lesson_guide h1")
        expect(title.or_(step).first).to_be_visible()
        self.settle()

    def settle(self) -> None:
        """Wait until nothing runs and nothing is being loaded."""
        self.page.wait_for_function(_DRAWN, polling=100)

    def rest(self) -> None:
        """Wait until the page is settled for half a second, when a click has its answer."""
        self.page.wait_for_function(
            f"rest => (rest.polls = ({_DRAWN})() ? (rest.polls ?? 0) + 1 : 0) > 5",
            arg=self.page.evaluate_handle("() => ({})"),
            polling=100,
        )

    # ---- writing ----

    def write(self, text_a: str, text_b: str = "") -> None:
        """Type into the sentence box; the app sends it by itself. Wait until it was taken."""
        self.box("A").fill(text_a)
        self.box("B").fill(text_b)
        self.wait_for_query("text_a", text_a)
        self.wait_for_query("text_b", text_b or None)  # empty is the default and left out
        self.settle()

    def choose(self, box: Locator, option: str) -> None:
        """Choose an option of a select box, whose list closes when the page moves under it."""

        def pick() -> None:
            box.click(timeout=TRY_MS)
            box.fill(option, timeout=TRY_MS)  # a long list is drawn in part
            offered = self.page.get_by_role("option", name=option, exact=True)
            offered.click(timeout=TRY_MS)
            # A click is lost on a list that is drawn anew under it, which then stays open.
            offered.wait_for(state="hidden", timeout=TRY_MS)

        _until_it_works(pick)
        self.settle()

    def download(self, menu: Locator, button: Locator) -> Download:
        """Open the menu of a view, which closes when the page moves, and click a button in it."""

        def click() -> None:
            if not button.is_visible():
                menu.click(timeout=TRY_MS)
            button.click(timeout=TRY_MS)

        self.rest()
        with self.page.expect_download() as started:
            _until_it_works(click)
        return started.value

    def box(self, side: str) -> Locator:
        """Return the text area of sentence A or B."""
        return self.page.locator(f".st-key-text_{side.lower()} textarea")

    def wait_for_query(self, name: str, wanted: str | None) -> None:
        """Wait until the address has this value; None waits until it has none."""
        self.page.wait_for_function(
            "([name, wanted]) => new URL(location).searchParams.get(name) === wanted",
            arg=[name, wanted],
        )

    # ---- looking ----

    def check(self) -> None:
        """Make sure that the page shows no exception and no error."""
        self.settle()
        assert self.page.get_by_test_id("stException").count() == 0
        assert self.page.get_by_role("dialog").count() == 0  # "Page not found" would be one
        errors = self.errors()
        assert errors == [], (self.page.url, errors)

    def errors(self) -> list[str]:
        """Return the sentences of the error boxes."""
        return self.page.get_by_test_id("stAlertContentError").all_inner_texts()

    def notices(self, text: str = "") -> Locator:
        """Return the coloured boxes, or those with a text."""
        return self.page.get_by_test_id("stAlertContainer").filter(has_text=text)

    def picture(self, key: str = "figure_") -> Locator:
        """Return the first Plotly figure seen whose key starts so, when marks are drawn in it."""
        figure = self.page.locator(f'[class*="st-key-{key}"] .js-plotly-plot:visible').first
        marks = figure.locator(".cartesianlayer .overplot :is(path, image, text)")
        # Work of the pages before it may be in line, each for as long as nobody asks for it.
        expect(marks.first).to_be_attached(timeout=4 * TIMEOUT_MS)
        return figure

    def inked(self, selector: str) -> Locator:
        """Return the first canvas there, when something is drawn on it."""
        canvas = self.page.locator(f"{selector} canvas").first
        expect(canvas).to_be_visible()
        # Looked up at each try: a canvas may be replaced before it is painted.
        deadline = time.monotonic() + TIMEOUT_MS / 1000
        while not canvas.evaluate(_INKED):
            assert time.monotonic() < deadline, f"nothing is drawn in {selector}"
            self.page.wait_for_timeout(50)
        return canvas

    def token(self, strip: str, text: str) -> Locator:
        """Return a token of a strip by its text, the first of that name."""
        return (
            self.page.locator(f".st-key-{strip} .words button")
            .filter(has=self.page.locator(f'b:text-is("{text}")'))
            .first
        )

    def was_tricked(self) -> bool:
        """Return whether any frame ran a stranger's code."""
        return any(frame.evaluate("'__pwned' in window") for frame in self.page.frames)
