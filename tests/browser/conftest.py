"""One server and one browser for all browser tests, both without a network.

The server runs as `bertscope` starts it, on the checkpoint that ships if it is there, else on a
random tiny one. The browser may ask the server alone: what it asks of others fails the test.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from bertcore import Bert, Trace
from tests.support.browser.bare_tab import Tab
from tests.support.browser.bare_view import made_trace
from tests.support.browser.running import ROOT, running_app
from tests.support.browser.setup_browser import LAUNCH_FLAGS, find_browser
from tests.support.browser.visit import TIMEOUT_MS, Visit
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

HERE = Path(__file__).parent
SHIPPED = ROOT / "bertcore" / "model" / "checkpoints" / "default"
MAX_TOKENS = 512
USUAL: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "service_workers": "block"}
"""Options of a visitor's browser context."""
STILL = """
const still = new CSSStyleSheet();
still.replaceSync(`*, *::before, *::after {
  animation-duration: 0.01ms !important; animation-iteration-count: 1 !important;
  transition-duration: 0.01ms !important;
}`);
document.adoptedStyleSheets.push(still);
"""
"""Without it, a browser draws each frame of Streamlit's skeletons and fades.

The contexts that test_waiting and test_closed make move as they do for visitors.
"""


@pytest.hookimpl(tryfirst=True)  # before -m leaves out what is exhaustive
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `exhaustive` the browser tests that are not in the sweep of every change."""
    for item in items:
        if HERE in item.path.parents and not item.get_closest_marker("sweep"):
            item.add_marker(pytest.mark.exhaustive)


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """Return the context of a visitor to whom nothing moves by itself."""
    context = browser.new_context(**{**USUAL, **options})
    context.add_init_script(STILL)
    return context


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a random checkpoint of 2 layers that reads 512 tokens."""
    network = tiny_network(tiny_config(max_position_embeddings=MAX_TOKENS))
    tokenizer = tiny_tokenizer(max_length=MAX_TOKENS)
    return Bert(network, tokenizer, name="tiny").save(tmp_path_factory.mktemp("saved") / "tiny")


@pytest.fixture(scope="session")
def url(tiny_folder: Path) -> Iterator[str]:
    """The address of the running app, whose every way out leads to a proxy that refuses."""
    asked: list[str] = []
    with ExitStack() as stack:
        proxy = stack.enter_context(socket.create_server(("localhost", 0)))
        threading.Thread(target=_refuse, args=(proxy, asked), daemon=True).start()
        way_out = f"http://localhost:{proxy.getsockname()[1]}"
        environ = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), way_out)
        environ |= dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1")
        checkpoint = None if (SHIPPED / "model.safetensors").is_file() else tiny_folder
        yield stack.enter_context(running_app(checkpoint, **environ)).url
    assert asked == [], f"the server asked other hosts: {asked}"


def _refuse(proxy: socket.socket, asked: list[str]) -> None:
    """Write down the first line of each request and close."""
    while True:
        try:
            connection, _ = proxy.accept()
        except OSError:
            return
        with connection:
            asked.append(connection.recv(1000).partition(b"\r\n")[0].decode(errors="replace"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=find_browser(), args=list(LAUNCH_FLAGS), timeout=TIMEOUT_MS
        )
        yield found
        found.close()


@pytest.fixture(scope="session")
def kept_tabs() -> list[Page]:
    """Tabs that `new_visit` uses again: in a new one the app takes two seconds more."""
    return []


@pytest.fixture
def new_visit(browser: Browser, url: str, kept_tabs: list[Page]) -> Iterator[Callable[..., Visit]]:
    """Open a tab of a new visitor, who shares nothing with others; keywords go to the context.

    The keyword `url` leads to another server. With a keyword the tab is new; one without is cleared
    when the test ends and used again. Then each is asked whether it saw an error or asked for
    another host.
    """
    visits: list[Visit] = []

    def make(**options: Any) -> Visit:
        num_kept = sum(visit.first_page in kept_tabs for visit in visits)
        if options:
            address = options.pop("url", url)
            page = new_context(browser, **options).new_page()
        else:
            address = url
            if num_kept == len(kept_tabs):
                kept_tabs.append(new_context(browser).new_page())
            page = kept_tabs[num_kept]
            page.set_viewport_size(USUAL["viewport"])
        visits.append(Visit(page, address))
        return visits[-1]

    yield make
    for visit in visits:
        if visit.first_page in kept_tabs:
            visit.leave()
        else:
            visit.context.close()
    for visit in visits:
        visit.check_complaints()


@pytest.fixture
def visit(new_visit: Callable[..., Visit]) -> Visit:
    """A visitor's tab, with nothing stored. Scripts and routes would stay: they need keywords."""
    return new_visit()


@pytest.fixture
def tab(browser: Browser, tmp_path: Path) -> Iterator[Tab]:
    """A tab without a network; what it complained of fails the test."""
    context = browser.new_context(viewport={"width": 1180, "height": 1600}, offline=True)
    context.set_default_timeout(TIMEOUT_MS)
    tab = Tab(context.new_page(), tmp_path)
    yield tab
    tricked = ["__pwned" in frame.evaluate("Object.keys(window)") for frame in tab.page.frames]
    context.close()
    assert not any(tricked)
    assert tab.complaints == []


@pytest.fixture(scope="module")
def pair() -> Trace:
    """A pair of made-up tokens whose weights are random."""
    names = [f"word{k}" for k in range(18)]
    return made_trace(["[CLS]", *names[:8], "##s", *names[8:], "##ly", "##er", "[SEP]"], second=12)
