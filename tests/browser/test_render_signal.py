"""The rerun that the browser requests: once all is rendered, and never after a click."""

import pytest
from playwright.sync_api import Page

from app.shell import signals
from tests.support.browser.bare_tab import Tab

pytestmark = pytest.mark.browser

_PAGE = """<!DOCTYPE html><div data-testid="stApp" data-test-script-state="notRunning">
<a href="#other">Other page</a><div id="place"></div></div><script type="module">%s
window.requests = 0;
window.mount = () => bundle.default({
  data: { sign: "done" }, parentElement: document.body, setStateValue: () => {},
  setTriggerValue: () => { window.requests += 1; } });
window.unmount = window.mount();
</script>"""


@pytest.fixture
def page(tab: Tab) -> Page:
    """A page with the component alone, and a clock that only the test moves."""
    page = tab.page
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 3_600_000)  # ahead of it, however slow
    page.set_content(_PAGE % signals.ARRIVAL.bundle.script)
    page.wait_for_function("window.unmount !== undefined")
    return page


def requests(page: Page, *, after_ms: int) -> int:
    """Return how many reruns were requested until some time has passed."""
    page.clock.run_for(after_ms)
    return int(page.evaluate("window.requests"))


def draw_sign(page: Page) -> None:
    page.evaluate("document.querySelector('#place').className = 'st-key-done'")


def set_state(page: Page, state: str) -> None:
    page.evaluate("s => document.querySelector('div').dataset.testScriptState = s", state)


def test_a_rerun_is_requested_once_the_sign_is_drawn(page: Page) -> None:
    assert requests(page, after_ms=10_000) == 0
    draw_sign(page)
    assert requests(page, after_ms=200) == 1
    assert requests(page, after_ms=4000) == 1
    assert requests(page, after_ms=2000) == 2  # the first was lost with the connection


def test_nothing_is_requested_while_the_page_runs_or_has_gaps(page: Page) -> None:
    draw_sign(page)
    set_state(page, "running")
    assert requests(page, after_ms=10_000) == 0
    set_state(page, "notRunning")
    page.evaluate("document.querySelector('a').dataset.testid = 'stSkeleton'")
    assert requests(page, after_ms=10_000) == 0
    page.evaluate("delete document.querySelector('a').dataset.testid")
    assert requests(page, after_ms=200) == 1


def test_the_page_left_by_a_click_is_not_requested_again(page: Page) -> None:
    page.get_by_role("link").click()
    draw_sign(page)  # before the server has answered the click
    assert requests(page, after_ms=1000) == 0
    page.evaluate("window.unmount()")  # the other page is drawn
    assert requests(page, after_ms=20_000) == 0


def test_a_click_that_was_answered_delays_nothing(page: Page) -> None:
    page.get_by_role("link").click()
    set_state(page, "running")
    assert requests(page, after_ms=200) == 0
    draw_sign(page)
    set_state(page, "notRunning")
    assert requests(page, after_ms=200) == 1


def test_a_click_that_starts_no_run_delays_the_rerun(page: Page) -> None:
    page.get_by_role("link").click()
    draw_sign(page)
    assert requests(page, after_ms=4000) == 0
    assert requests(page, after_ms=2000) == 1


def test_going_back_counts_as_a_click(page: Page) -> None:
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    draw_sign(page)
    assert requests(page, after_ms=1000) == 0


def test_a_component_that_is_called_again_requests_once(page: Page) -> None:
    page.evaluate("() => { window.unmount = window.mount(); }")  # the theme changed
    draw_sign(page)
    assert requests(page, after_ms=200) == 1
    page.evaluate("window.unmount()")
    assert requests(page, after_ms=20_000) == 1
