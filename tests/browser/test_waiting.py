"""A visitor of a busy browser waits for slow work: what was typed stays, and the views come.

The work of these pages begins only when the test says so; see `slow_app`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.support.browser.running import ROOT, running_app
from tests.support.browser.visit import TEXT_A, Visit
from tests.support.rigged_models import random_model

pytestmark = pytest.mark.browser

_LATE_ANSWERS = """
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (name, listener, ...more) {
  const late = name === "message" ? (event) => setTimeout(() => listener(event), 700) : listener;
  return listen.call(this, name, late, ...more);
};"""


@dataclass(frozen=True, slots=True)
class Slow:
    """The app whose work waits, and the file for which it waits."""

    url: str
    go: Path

    def finish(self) -> None:
        self.go.touch()


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory, tiny_folder: Path) -> Iterator[Slow]:
    go = tmp_path_factory.mktemp("slow") / "go"
    script = ROOT / "tests" / "support" / "browser" / "slow_app.py"
    with running_app(tiny_folder, script=script, BERTSCOPE_TEST_GO=str(go)) as app:
        yield Slow(app.url, go)


@pytest.fixture
def slow_visit(browser: Browser, slow: Slow) -> Iterator[Visit]:
    slow.go.unlink(missing_ok=True)
    context = browser.new_context(service_workers="block", viewport={"width": 1280, "height": 900})
    visit = Visit(context.new_page(), slow.url)
    yield visit
    slow.finish()
    context.close()
    assert visit.foreign == []
    assert visit.complaints == []


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(random_model("classify").save(tmp_path_factory.mktemp("classifier") / "it"))


def open_waiting(visit: Visit, page: str, **query: str) -> None:
    """Open a page, and wait for the progress of its work."""
    visit.page.goto(f"{visit.url}/{page}?{urlencode(query)}")
    expect(visit.page.get_by_text("Waiting for the test")).to_be_visible()


def test_a_text_from_a_link_stays_though_its_box_is_drawn_late(
    slow_visit: Visit, slow: Slow
) -> None:
    """The box's code is held back until the work is done and the page shows that it is."""
    held: list[Route] = []
    slow_visit.context.route("**/TextArea.*.js", lambda route: held.append(route))
    open_waiting(slow_visit, "what-if", text_a=TEXT_A, rank="1")
    assert held
    slow.finish()
    expect(slow_visit.page.locator('[class*="st-key-arrived_"]')).to_be_attached()
    for route in held:
        route.continue_()
    slow_visit.picture("figure_what-if-ranking")
    expect(slow_visit.box("A")).to_have_value(TEXT_A)
    slow_visit.check()


def test_what_is_being_typed_stays_when_the_view_comes(slow_visit: Visit, slow: Slow) -> None:
    """A box beside the view is not sent while one types; the view comes into its fragment."""
    text = f"{TEXT_A} [MASK]"
    open_waiting(slow_visit, "what-if", text_a=text, rank="1")
    word = slow_visit.page.get_by_label("Word to follow")
    word.press_sequentially("ri")
    slow.finish()
    slow_visit.picture("figure_what-if-ranking")
    word.press_sequentially("ver")
    expect(word).to_have_value("river")
    expect(slow_visit.box("A")).to_have_value(text)
    slow_visit.check()


def test_a_page_chosen_as_the_result_comes_opens(
    slow_visit: Visit, slow: Slow, classifier: str
) -> None:
    """The server's answers are late, so that the result is seen before the other page comes."""
    slow_visit.page.add_init_script(_LATE_ANSWERS)
    open_waiting(slow_visit, "inspect", text_a="the steep bank", checkpoint=classifier)
    slow_visit.page.evaluate(
        """name => new MutationObserver((_, observer) => {
          if (!document.querySelector('[class*="st-key-arrived_"]')) return;
          observer.disconnect();
          document.querySelector(`[data-testid="stSidebarNavLink"][href$="/${name}"]`).click();
        }).observe(document.body, { childList: true, subtree: true })""",
        "papers",
    )
    slow.finish()
    slow_visit.arrive("papers")
    slow_visit.check()


def test_waiting_stops_and_starts_and_follows_the_text(
    slow_visit: Visit, slow: Slow, classifier: str
) -> None:
    open_waiting(slow_visit, "inspect", text_a="the film", checkpoint=classifier)
    main = slow_visit.page.get_by_test_id("stMainBlockContainer")
    main.get_by_role("button", name="Stop", exact=True).click()  # not that of a slow run
    expect(slow_visit.page.get_by_text("Stopped.")).to_be_visible()
    slow_visit.page.get_by_role("button", name="Start again").click()
    expect(slow_visit.page.get_by_text("Waiting for the test")).to_be_visible()
    slow_visit.box("A").press("End")
    slow_visit.box("A").press_sequentially(" was very", delay=50)
    slow.finish()
    slow_visit.box("A").press_sequentially(" good", delay=50)
    slow_visit.wait_for_query("text_a", "the film was very good")
    slow_visit.picture("figure_inspect-words")
    expect(slow_visit.box("A")).to_have_value("the film was very good")
    slow_visit.check()
