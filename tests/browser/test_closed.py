"""A closed server in a real browser: the key, its content policy, no frames, what is refused."""

import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.browser.running import ROOT, Running, running_app
from tests.support.browser.visit import TIMEOUT_MS, Visit

pytestmark = pytest.mark.browser

KEY = "the river bank"


@pytest.fixture(scope="module")
def server(tiny_folder: Path) -> Iterator[Running]:
    """A server that others reach, with a key and a folder of checkpoints."""
    options = ["--address", "0.0.0.0", "--checkpoints", str(tiny_folder.parent)]
    with running_app(None, arguments=options, BERTSCOPE_KEY=KEY) as running:
        yield running


@pytest.fixture(scope="module")
def admitted(server: Running, browser: Browser) -> Iterator[Visit]:
    """The tab of a visitor who has given the key."""
    context = browser.new_context(service_workers="block", viewport={"width": 1280, "height": 900})
    visit = Visit(context.new_page(), server.url)
    visit.page.goto(server.url)
    give(visit.page, KEY)
    visit.arrive("door")
    (asked,) = visit.complaints  # the form is answered with 401, which the console tells
    assert "401" in asked
    visit.complaints.clear()
    yield visit
    context.close()


@pytest.fixture
def inside(admitted: Visit) -> Iterator[Visit]:
    """The same tab, asked after each test whether it saw an error."""
    yield admitted
    admitted.check_complaints()


def give(page: Page, key: str) -> None:
    page.get_by_label("Key").fill(key)
    page.get_by_role("button", name="Open").click()


@pytest.mark.sweep
def test_the_key_opens_the_very_link_and_holds(server: Running, browser: Browser) -> None:
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server.url}/tokens?text_a=The+river.")
    expect(page.get_by_label("Key")).to_be_focused()
    give(page, "the wrong bank")
    expect(page.get_by_role("alert")).to_contain_text("not the key")
    assert {url.partition("?")[0] for url in asked} <= {f"{server.url}/tokens"}
    give(page, KEY)
    expect(page.locator(".st-key-text_a textarea")).to_have_value("The river.")
    page.reload()
    expect(page.locator(".st-key-text_a textarea")).to_have_value("The river.")
    assert "script" not in page.evaluate("document.cookie + location.href")
    assert page.evaluate("document.cookie").count("bertscope") == 0  # no script may read it
    context.close()


def test_its_policy_is_that_of_the_open_server(server: Running, url: str) -> None:
    """On which test_every_page.py opens every page."""
    policies = []
    for address in (server.url, url):
        with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
            policies.append(answer.headers["Content-Security-Policy"])
    closed, local = (re.sub(r"localhost:\d+", "HOST", str(policy)) for policy in policies)
    assert closed == local != "None"


def test_no_page_of_another_shows_it_in_a_frame(server: Running, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    with page.expect_console_message(lambda message: "frame" in message.text.lower()):
        page.set_content(f"<iframe src='{server.url}'></iframe>")
    assert page.locator("iframe").content_frame.get_by_label("Key").count() == 0
    context.close()


def test_what_is_not_offered_is_one_sentence(inside: Visit) -> None:
    inside.open("tokens", checkpoint="/etc")
    (sentence,) = inside.errors()
    assert "by name" in sentence
    inside.open("tokens", checkpoint="tiny")
    inside.check()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")
@pytest.mark.usefixtures("inside")
def test_the_key_is_in_no_process(server: Running) -> None:
    processes = [
        server.process,
        *(child.pid for child in psutil.Process(server.process).children(True)),
    ]
    for pid in processes:
        for file in ("environ", "cmdline"):
            assert KEY.encode() not in Path(f"/proc/{pid}/{file}").read_bytes()


def test_a_refused_upload_says_why(new_visit: Callable[..., Visit], tmp_path: Path) -> None:
    with running_app(
        script=ROOT / "tests" / "support" / "browser" / "closed_app.py",
        BERTSCOPE_ACCESS="closed",
        BERTSCOPE_TEST_FREE_MEMORY=str(700_000_000),
    ) as server:
        visit = new_visit(url=server.url)
        visit.open("heads", heads_source="file")
        table = tmp_path / "sentences.txt"
        table.write_text("The river bank was steep.\n" * 1000)
        with visit.page.expect_console_message(lambda said: "File uploader error" in said.text):
            visit.page.locator("input[type=file]").set_input_files(table)
        toast = visit.page.get_by_test_id("stToast")
        expect(toast).to_contain_text("This server has 700 MB of memory left")
        expect(toast).to_contain_text("try again in ten minutes")
        assert len(visit.complaints) == 2  # of the browser and of Streamlit, both expected
        visit.complaints.clear()
