"""The live file, opened from the disk without a network, and the site: used and damaged."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request, expect

import bertcore
from app.live.live_file import live_file, live_site
from app.shell.sentence_box import DEFAULT
from bertcore import Bert
from bertcore.analysis import masked_encoding, pair_answer
from tests.support.browser.hostile import MARKUP, SCRIPT, SIGNS
from tests.support.browser.live_site import serve
from tests.support.browser.visit import TIMEOUT_MS
from tests.support.live_network import Case, check_numbers, compute, random_texts
from tests.support.nasty_text import NASTY
from tests.support.tiny import tiny_bert

pytestmark = pytest.mark.browser

Opener = Callable[..., Page]
FORMS = [("tiny", True), ("tiny", False), ("default", True), ("default", False)]


@cache
def shipped() -> Bert:
    return bertcore.load("default", device="cpu")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "bert.html"
    path.write_text(live_file(shipped(), "float16"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a plain static server, and the folder that it serves."""
    folder = tmp_path_factory.mktemp("site")
    for name, content in live_site(shipped(), source="default").items():
        (folder / name).write_bytes(content)
    with serve(folder) as address:
        yield address, folder


@pytest.fixture
def open_file(browser: Browser, file: Path) -> Iterator[Opener]:
    """Open the file, or another address; what it asks of others or complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(fragment: str = "", path: Path = file, address: str = "", **options: object) -> Page:
        own = (address,) if address else ("file:", "data:", "blob:")

        def note(asked: Request) -> None:
            if not asked.url.startswith((*own, "blob:")):
                complaints.append(f"asked for {asked.url}")

        context = browser.new_context(offline=not address, **{"viewport": SIZE, **options})
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("request", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(f"{address or path.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


SIZE = {"width": 1280, "height": 900}


def is_computed(page: Page, num_tokens: int) -> None:
    expect(page.locator("p.status")).to_contain_text(f"{num_tokens} tokens, computed here")


def box(page: Page, side: str):
    return page.get_by_label(f"Text {side}")


@pytest.mark.sweep
def test_a_visitor_types_hides_chooses_and_links(open_file: Opener) -> None:
    bert, page = shipped(), open_file()
    expect(page.locator("p.status")).to_contain_text("computed here")
    box(page, "B").fill("")
    box(page, "A").fill("The captain told a story of strawberries.")
    encoding = bert.tokenize("The captain told a story of strawberries.")
    is_computed(page, len(encoding.tokens))
    strip = page.get_by_role("listbox").first
    expect(strip.get_by_role("option").locator("b")).to_have_text(encoding.tokens)
    expect(page.get_by_text("not in the vocabulary").first).to_be_visible()  # why it is cut

    hidden = page.get_by_role("listbox").last
    crossed = hidden.locator("[role=option]").nth(encoding.tokens.index("story"))
    places = [int(place) for place in re.findall(r"hidden=(\d+)", page.evaluate("location.hash"))]
    for place in {*places} - {encoding.tokens.index("story")}:
        hidden.get_by_role("option").nth(place).click()  # the word that the file hid
        expect(page.get_by_text("No token is hidden.")).to_be_visible()
    if encoding.tokens.index("story") not in places:
        crossed.click()
    guesses = bert.fill_mask("The captain told a [MASK] of strawberries.")[0]
    best = page.locator(".guess .bar bdi")
    expect(best.first).to_have_text(guesses[0][0])
    expect(page.locator(".guess .bar b").first).to_contain_text("%")

    box(page, "B").fill("It was about the sea.")
    expect(page.locator(".next .bar")).to_have_count(2)
    strip.get_by_role("option").nth(1).click()
    expect(page.locator(".next .bar")).to_have_count(2)  # what was asked stays
    page.get_by_role("application", name="All heads").press("End")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("layer=5.*heads=7"))
    lines = page.get_by_role("application", name="Attention lines")
    expect(lines).to_have_count(1)
    page.get_by_label("Heat map").check()
    expect(page.get_by_text("Layer 5, head 7").last).to_be_visible()
    expect(lines).to_have_count(0)  # one view at a time

    other = open_file(page.url[page.url.index("#") :])
    expect(box(other, "B")).to_have_value("It was about the sea.")
    expect(other.get_by_text("Layer 5, head 7").last).to_be_visible()
    page.get_by_role("button", name="Swap A and B").click()
    expect(box(page, "A")).to_have_value("It was about the sea.")


def test_it_begins_with_the_app_s_word_and_has_one_probability(open_file: Opener) -> None:
    page, bert = open_file(), shipped()
    expect(page).to_have_url(re.compile("hidden=22$"))  # money, as in the app
    masked = masked_encoding(bert, DEFAULT.text_a, DEFAULT.text_b, [22])
    answer = pair_answer(bert, bert.trace(DEFAULT.text_a, DEFAULT.text_b, encoding=masked))
    written = f"{answer.is_next:.1%}"
    expect(page.locator(".next .bar b").first).to_have_text(written)
    walk = page.get_by_role("group", name="Walk through BERT")
    for _ in range(12):
        if written not in walk.inner_text():
            page.get_by_role("application", name="BERT on this text").press("ArrowRight")
    expect(walk).to_contain_text(written)
    box(page, "A").fill("Once " + DEFAULT.text_a)
    expect(page).to_have_url(re.compile("hidden=23(&|$)"))
    page.get_by_role("listbox").last.get_by_role("option").nth(23).click()
    expect(page.get_by_text("No token is hidden.")).to_be_visible()


def test_the_site_opens_with_a_door_that_computes(
    open_file: Opener, site: tuple[str, Path]
) -> None:
    """Guesses, a gap, one's own text, and both ways on."""
    page, bert = open_file(address=site[0]), shipped()
    door = page.locator(".door")
    guess = door.locator("li b").first
    first = bert.fill_mask("He opened the [MASK] and went in.")[0][0][0]
    expect(guess).to_have_text(first)
    expect(door).to_contain_text(f"“{first}” is hidden. It is the first guess.")
    door.get_by_role("button", name=first).click()
    expect(door).to_contain_text("Click a word to hide it: BERT guesses what is missing.")
    door.get_by_role("button", name="opened").click()
    expect(guess).to_have_text(bert.fill_mask("He [MASK] the door and went in.")[0][0][0])
    door.get_by_role("textbox").fill("The captain told a story.")
    expect(box(page, "A")).to_have_value("The captain told a story.")
    expect(door.get_by_role("button", name="captain")).to_be_visible()
    door.get_by_role("link", name="Look inside").click()
    expect(page.get_by_role("heading", name="BERT at a glance")).to_be_focused()
    door.get_by_role("link", name="Take lesson 1").click()
    expect(page).to_have_url(re.compile("lesson=word-pieces"))
    expect(door).to_be_hidden()
    expect(page.locator(".guide progress")).to_be_visible()


@pytest.mark.parity
@pytest.mark.parametrize(("name", "is_fast"), FORMS)
def test_the_browser_computes_what_python_does(
    browser: Browser, name: str, is_fast: bool, tmp_path: Path
) -> None:
    """In WebAssembly, and in the plain form that a browser without it computes."""
    bert = tiny_bert() if name == "tiny" else shipped()
    number = 200 if is_fast or name == "tiny" else 60
    texts = [*NASTY, *random_texts(number - len(NASTY))]
    cases: list[Case] = [(text, None) for text in texts[::2]] + [*pairwise(texts)][::2]
    found = compute(bert, cases, tmp_path, browser, is_fast=is_fast)
    for case, each in zip(cases, found, strict=True):
        check_numbers(bert, case, each)


WINDOWS = [("light", 1280), ("dark", 360)]


@pytest.mark.parametrize(("scheme", "width"), WINDOWS)
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
    plane = page.get_by_role("application", name="BERT on this text")
    for _ in range(10):
        plane.press("ArrowRight")
        assert plane.evaluate("frame => frame.scrollWidth <= frame.clientWidth")


def test_any_text_is_text(open_file: Opener) -> None:
    page, bert = open_file(), shipped()
    for text in (SCRIPT, MARKUP, SIGNS, "", " ", "a" * 200, "word " * 900):
        box(page, "B").fill(text)
        box(page, "A").fill(text)
        encoding = bert.tokenize(text[:5000], text[:5000] or None)
        is_computed(page, len(encoding.tokens))
        if encoding.truncation:
            expect(page.locator("p.status")).to_contain_text("were left out")
        assert not page.evaluate("'__pwned' in window")


def test_bert_at_a_glance_is_walked_and_each_part_leads_on(open_file: Opener) -> None:
    page = open_file()
    walk = page.get_by_role("group", name="Walk through BERT")
    plane = page.get_by_role("application", name="BERT on this text")
    for _ in range(10):
        plane.press("ArrowRight")
    expect(walk).to_contain_text("11 / 11")
    expect(page).to_have_url(re.compile("step=10"))
    other = open_file(page.url[page.url.index("#") :])
    expect(other.get_by_role("group", name="Walk through BERT")).to_contain_text("11 / 11")
    for x, y, heading, in_address in (
        (0.12, 0.5, "Word pieces", "token="),
        (0.42, 0.09, "Attention of all heads", "layer="),
        (0.95, 0.2, "Next sentence", "step=10"),
        (0.95, 0.87, "Masked words", "hidden="),
    ):
        box = plane.bounding_box()
        plane.click(position={"x": x * box["width"], "y": y * box["height"]})
        expect(page.get_by_role("heading", name=heading)).to_be_focused()
        expect(page).to_have_url(re.compile(in_address))


def test_the_site_is_served_under_its_policy_and_kept_by_the_browser(
    open_file: Opener, site: tuple[str, Path]
) -> None:
    address, folder = site
    page = open_file("#a=The+bank+of+the+river.&hidden=2", address=address)
    expect(page.locator(".guess .bar")).not_to_have_count(0)
    assert not page.evaluate("self.crossOriginIsolated")
    (weights,) = folder.glob("weights.*")
    kept = weights.rename(folder / "kept")
    try:
        page.reload()  # the weights come from the browser's own store
        expect(page.locator(".guess .bar")).not_to_have_count(0)
    finally:
        kept.rename(weights)


def test_a_site_without_its_weights_or_opened_from_the_disk_is_told(
    browser: Browser, open_file: Opener, site: tuple[str, Path]
) -> None:
    address, folder = site
    page = open_file(path=folder / "index.html")
    expect(page.get_by_role("alert")).to_contain_text("a browser opens it from a server only")
    page = browser.new_page()
    page.route("**/weights.*", lambda route: route.fulfill(status=404))
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("the server answered 404")
    page.unroute("**/weights.*")
    weights = next(folder.glob("weights.*")).read_bytes()
    for body, told in ((weights[:-9], "were cut"), (weights[:-9] + bytes(9), "is damaged")):
        page.route("**/weights.*", lambda route, _, body=body: route.fulfill(body=body))
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text(told)
        page.unroute("**/weights.*")
    page.close()


@pytest.mark.parametrize("unit", ["a\u0301\u0301", "%ED%A0%80", "<img src=x onerror=1>"])
def test_a_fragment_with_a_long_hostile_text_opens_soon(open_file: Opener, unit: str) -> None:
    text = unit * (40_000 // len(unit))  # Chromium takes addresses of 2 MB
    numbers = ".".join(["7"] * 100_000)
    page = open_file(f"#a={text}&b={text}&hidden={numbers}&heads={numbers}&lesson_done={text}")
    expect(page.locator("p.status")).to_contain_text("computed here", timeout=20_000)
    assert len(box(page, "A").input_value()) <= 5000
    assert page.locator("img[src=x]").count() == 0
    box(page, "B").fill("")
    box(page, "A").fill("The bank.")
    is_computed(page, 5)


def test_a_damaged_or_starved_file_says_so(open_file: Opener, file: Path, tmp_path: Path) -> None:
    whole = file.read_text(encoding="utf-8")
    start = whole.index('id="weights">') + 2_000_000
    error = "throw new RangeError('WebAssembly.Memory(): could not allocate memory')"
    poor = f"WebAssembly.Memory=class{{constructor(){{{error}}}}};"
    for content, told in (
        (f"{whole[:start]}AAAA{whole[start + 4 :]}", "The file is damaged"),
        (whole[:start], "The file is damaged"),
        (whole[: whole.index('id="settings">') + 99], "the file is incomplete"),
        (whole.replace('id="worker">', f'id="worker">{poor}'), "too little memory"),
    ):
        path = tmp_path / "damaged.html"
        path.write_text(content, encoding="utf-8")
        expect(open_file(path=path).get_by_text(told).first).to_be_visible()


def test_a_poor_browser_works_or_is_told(browser: Browser, file: Path) -> None:
    page = browser.new_page()
    page.add_init_script("history.replaceState = () => { throw new Error('refused'); }")
    page.goto(file.as_uri())
    box(page, "B").fill("")
    box(page, "A").fill("The bank.")
    is_computed(page, 5)
    page.add_init_script("delete window.Worker")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("This browser runs no workers")
    page.close()
