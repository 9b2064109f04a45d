"""The live file, opened from the disk without a network: typed into, clicked, linked, damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

import bertcore
from app.live.live_file import live_file
from bertcore import Bert
from tests.support.browser.hostile import MARKUP, SCRIPT, SIGNS
from tests.support.exhaustive import all_but

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bert = bertcore.load("default", device="cpu")
    assert isinstance(bert, Bert)
    path = tmp_path_factory.mktemp("live") / "bert.html"
    path.write_text(live_file(bert, "float16"), encoding="utf-8")
    return path


@pytest.fixture
def open_file(browser: Browser, file: Path) -> Iterator[Opener]:
    """Open the file, or another one; what it asks for or complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def note(asked: Request) -> None:
        if not asked.url.startswith(("file:", "data:", "blob:")):
            complaints.append(f"asked for {asked.url}")

    def opened(fragment: str = "", path: Path = file, **options: object) -> Page:
        context = browser.new_context(offline=True, **{"viewport": SIZE, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("request", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(f"{path.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


SIZE = {"width": 1280, "height": 900}


def is_computed(page: Page, num_tokens: int) -> None:
    expect(page.get_by_role("status").first).to_contain_text(f"{num_tokens} tokens, computed here")


def box(page: Page, side: str):
    return page.get_by_label(f"Text {side}")


def test_a_visitor_types_hides_chooses_and_links(open_file: Opener) -> None:
    bert = bertcore.load("default", device="cpu")
    page = open_file()
    expect(page.get_by_role("status").first).to_contain_text("computed here")
    box(page, "B").fill("")
    box(page, "A").fill("The captain told a story of strawberries.")
    encoding = bert.tokenize("The captain told a story of strawberries.")
    is_computed(page, len(encoding.tokens))
    strip = page.get_by_role("listbox").first
    assert strip.get_by_role("option").locator("b").all_inner_texts() == encoding.tokens
    expect(page.get_by_text("not in the vocabulary").first).to_be_visible()  # why it is cut

    hidden = page.get_by_role("listbox").last
    hidden.get_by_role("option").nth(encoding.tokens.index("story")).click()
    guesses = bert.fill_mask("The captain told a [MASK] of strawberries.")[0]
    best = page.locator(".guess .bar bdi")
    expect(best.first).to_have_text(guesses[0][0])
    expect(page.locator(".guess .bar b").first).to_contain_text("%")

    box(page, "B").fill("It was about the sea.")
    expect(page.locator(".next .bar")).to_have_count(2)
    page.get_by_role("application", name="All heads").press("End")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.includes('layer=5') && location.hash.includes('heads=7')")
    page.get_by_label("Heat map").check()
    expect(page.get_by_text("Layer 5, head 7").last).to_be_visible()

    other = open_file(page.url[page.url.index("#") :])
    expect(box(other, "B")).to_have_value("It was about the sea.")
    expect(other.get_by_text("Layer 5, head 7").last).to_be_visible()
    page.get_by_role("button", name="Swap A and B").click()
    expect(box(page, "A")).to_have_value("It was about the sea.")


WINDOWS = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 1600)]


@pytest.mark.parametrize(("scheme", "width"), all_but(WINDOWS[1:3], WINDOWS))
def test_it_violates_no_rule_of_axe_and_fits(open_file: Opener, scheme: str, width: int) -> None:
    page = open_file(
        "#a=The+bank+of+the+river.&b=It+is+steep.&hidden=2",
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    )
    expect(page.locator(".guess .bar")).not_to_have_count(0)
    expect(page.locator(".next .bar")).to_have_count(2)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_any_text_is_text(open_file: Opener) -> None:
    page, bert = open_file(), bertcore.load("default", device="cpu")
    for text in (SCRIPT, MARKUP, SIGNS, "", " ", "a" * 200, "word " * 900):
        box(page, "B").fill(text)
        box(page, "A").fill(text)
        encoding = bert.tokenize(text[:5000], text[:5000] or None)
        is_computed(page, len(encoding.tokens))
        if encoding.truncation:
            expect(page.get_by_role("status").first).to_contain_text("were left out")
        assert not page.evaluate("'__pwned' in window")


def test_a_fragment_that_is_nonsense_opens(open_file: Opener) -> None:
    page = open_file("#a=hello&b=x&hidden=99.-1.a&token=1e9&layer=77&heads=55.2&view=sphere")
    is_computed(page, 6)


def test_a_damaged_file_is_a_sentence(open_file: Opener, file: Path, tmp_path: Path) -> None:
    whole = file.read_text(encoding="utf-8")
    start = whole.index('id="weights">') + 2_000_000
    damaged = tmp_path / "damaged.html"
    damaged.write_text(f"{whole[:start]}AAAA{whole[start + 4 :]}", encoding="utf-8")
    alert = open_file(path=damaged).get_by_role("alert")
    expect(alert).to_contain_text("The file is damaged")
    cut = tmp_path / "cut.html"
    cut.write_text(whole[:start], encoding="utf-8")
    page = open_file(path=cut)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_browser_without_workers_is_told(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.Worker")
    page.goto(file.as_uri())
    expect(page.get_by_role("alert")).to_contain_text("This browser runs no workers")
    page.close()
