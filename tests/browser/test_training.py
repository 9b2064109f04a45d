"""A run from the browser: started, watched without a reload, stopped, resumed and played again."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.support.browser.visit import Visit
from tests.support.small_corpus import small_documents, write_documents

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TRIES = 4
"""How often a list is opened before it counts as broken."""
STEPS = 2000
"""More than a run does before it is stopped; the resumed one is stopped as well."""


def step_of(visit: Visit) -> int:
    """Return the step that the page shows."""
    shown = visit.page.get_by_test_id("stMetric").filter(has_text="Step").first.inner_text()
    return int(re.sub(r"\D", "", shown))


def wait_for_state(visit: Visit, state: str) -> None:
    badge = visit.page.locator(".stMarkdownBadge")
    expect(badge).to_contain_text(state, timeout=180_000)
    visit.settle()


def wait_past(visit: Visit, step: int) -> None:
    """Wait until the page shows a later step, by itself."""
    visit.page.wait_for_function(
        """step => [...document.querySelectorAll('[data-testid="stMetric"]')]
          .map(metric => metric.innerText)
          .some(text => /^Step/.test(text) && Number(text.replace(/\\D/g, "")) > step)""",
        arg=step,
        timeout=180_000,
    )


def choose(visit: Visit, label: str, option: str) -> None:
    """Choose an option of a select box."""
    box = visit.page.get_by_role("combobox", name=label)
    wanted = visit.page.get_by_role("option", name=option, exact=True)
    for _ in range(TRIES - 1):
        box.click()
        try:
            wanted.click(timeout=5_000)
            break
        except PlaywrightTimeout:
            continue  # a list closes when the page moves under it
    else:
        box.click()
        wanted.click()
    visit.settle()


def fill(visit: Visit, label: str, text: str) -> None:
    """Type into a box and send it."""
    box = visit.page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")
    visit.settle()


def set_up(visit: Visit, name: str) -> None:
    """Ask for a tiny network."""
    page = visit.page
    fill(visit, "Name of the run", name)
    page.get_by_role("radio", name="steps").click()
    visit.settle()
    fill(visit, "Steps", str(STEPS))
    choose(visit, "Width", "64")
    choose(visit, "Tokens per row", "32")
    choose(visit, "Rows per step", "8")


def test_a_start_that_fails_says_the_commands_own_sentence(visit: Visit, tmp_path: Path) -> None:
    text = write_documents(tmp_path / "text.txt", small_documents(60))
    visit.open("training", runs=str(tmp_path / "runs"), corpus="path")
    fill(visit, "Path of a file or folder", str(text))
    set_up(visit, "mine")
    visit.page.get_by_role("button", name="Start training").click()
    error = visit.page.get_by_test_id("stAlertContentError")
    expect(error).to_contain_text("gave only", timeout=180_000)
    expect(error).to_contain_text("vocab_size is 4000")
    assert not (tmp_path / "runs" / "mine").exists()


def test_a_run_is_started_watched_stopped_resumed_and_played_again(
    visit: Visit, new_visit: Callable[..., Visit], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    visit.open("training", runs=str(runs))
    visit.page.get_by_role("button", name="Start your own").click()
    set_up(visit, "mine")
    page = visit.page
    page.get_by_role("button", name="Start training").click()
    wait_for_state(visit, "running")
    page.evaluate("window.__stayed = true")
    wait_past(visit, 0)
    wait_past(visit, step_of(visit))  # the numbers move on by themselves
    visit.picture("figure_training")
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for_state(visit, "stopped")
    stopped_at = step_of(visit)
    assert [*(runs / "mine" / "checkpoints").glob("step-*")]
    page.get_by_role("button", name="Resume").click()
    wait_for_state(visit, "running")
    wait_past(visit, max(stopped_at, 100))  # scored and recorded every 50 steps
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for_state(visit, "stopped")
    assert page.evaluate("window.__stayed")  # all of this without a reload
    visit.check()

    links = page.get_by_test_id("stMain").get_by_role("link", name="Masked words")
    other = new_visit()
    other.follow(links.first.evaluate("link => link.href"), "masked-words")
    expect(other.page.get_by_test_id("stSidebarUserContent")).to_contain_text("2 layers")
    expect(other.page.get_by_test_id("stSidebarUserContent")).to_contain_text("64 wide")
    other.check()

    page.get_by_role("button", name="Open here").last.click()
    expect(page.get_by_test_id("stSidebarUserContent")).to_contain_text("64 wide")
    visit.settle()
    page.get_by_role("radio", name="Replay").click()
    visit.picture("figure_replay")
    slider = page.get_by_role("slider", name="Training by step")
    last = int(slider.get_attribute("aria-valuemax") or 0)
    assert last >= 2
    slider.press("ArrowLeft")
    visit.wait_for_query("replay_moment", str(last - 1))
    visit.settle()
    page.get_by_role("heading", level=1).scroll_into_view_if_needed()  # a list closes on scrolling
    choose(visit, "Layer", "0")
    visit.check()
    again = new_visit()
    again.follow(page.url, "training")
    again.picture("figure_replay")
    same = again.page.get_by_role("slider", name="Training by step")
    expect(same).to_have_attribute("aria-valuenow", str(last - 1))
    again.check()
