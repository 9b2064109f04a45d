"""Runs from the browser: pretraining stopped, resumed, replayed; a table uploaded and learned."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit
from tests.support.finetuning_files import write_reviews

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE_MS = 240_000
STEPS = 2000
"""More than a run does before it is stopped; the resumed one is stopped as well."""


def step_of(visit: Visit) -> int:
    """Return the step that the page shows."""
    shown = visit.page.get_by_test_id("stMetric").filter(has_text="Step").first.inner_text()
    return int(re.sub(r"\D", "", shown))


def wait_for_state(visit: Visit, state: str) -> None:
    expect(visit.page.locator(".stMarkdownBadge")).to_contain_text(state, timeout=PATIENCE_MS)
    visit.settle()


def wait_past(visit: Visit, step: int) -> None:
    """Wait until the page shows a later step, by itself."""
    visit.page.wait_for_function(
        """step => [...document.querySelectorAll('[data-testid="stMetric"]')]
          .map(metric => metric.innerText)
          .some(text => /^Step/.test(text) && Number(text.replace(/\\D/g, "")) > step)""",
        arg=step,
        timeout=PATIENCE_MS,
    )


def fill(visit: Visit, label: str, text: str) -> None:
    """Type into a box and send it."""
    box = visit.page.get_by_label(label, exact=True)
    box.fill(text)
    box.press("Enter")
    visit.settle()


def expect_size(visit: Visit, size: str) -> None:
    """Open what the sidebar tells of the checkpoint, which has this size."""
    sidebar = visit.page.get_by_test_id("stSidebarUserContent")
    sidebar.get_by_text("Size, device, memory").click()
    expect(sidebar).to_contain_text(size)
    visit.settle()


def test_a_run_is_started_watched_stopped_resumed_and_played_again(
    visit: Visit, new_visit: Callable[..., Visit], tmp_path: Path
) -> None:
    runs, page = tmp_path / "runs", visit.page
    visit.open("training", runs=str(runs))
    page.get_by_role("radio", name="Start a run").click()
    page.get_by_role("radio", name="steps").click()
    visit.rest()
    fill(visit, "Steps", str(STEPS))
    page.get_by_test_id("stMain").get_by_role("button", name="More", exact=True).last.click()
    fill(visit, "Name of the run", "mine")
    visit.choose(page.get_by_role("combobox", name="Width"), "64")
    page.keyboard.press("Escape")
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

    page.get_by_role("button", name="Open here").last.click()
    expect_size(visit, "64 wide")
    page.get_by_role("radio", name="Replay").click()
    visit.picture("figure_replay")
    slider = page.get_by_role("slider", name="Training by step")
    last = int(slider.get_attribute("aria-valuemax") or 0)
    slider.press("ArrowLeft")
    visit.wait_for_query("replay_moment", str(last - 1))
    visit.check()
    other = new_visit()
    other.follow(page.url, "training")
    other.picture("figure_replay")
    same = other.page.get_by_role("slider", name="Training by step")
    expect(same).to_have_attribute("aria-valuenow", str(last - 1))
    other.check()


def test_a_table_is_uploaded_learned_from_watched_and_inspected(
    visit: Visit, tiny_folder: Path, tmp_path: Path
) -> None:
    form = {"training_view": "Start a run", "training_kind": "finetune", "table": "upload"}
    visit.open("training", runs=str(tmp_path / "runs"), checkpoint=str(tiny_folder), **form)
    page = visit.page
    table = write_reviews(tmp_path / "reviews.tsv", 64)
    page.locator("input[type=file]").set_input_files(table)
    main, start = page.get_by_test_id("stMain"), page.get_by_role("button", name="Fine-tune tiny")
    expect(main).to_contain_text("64 examples · 2 labels: bad (32), good (32)", timeout=PATIENCE_MS)
    expect(start).to_be_visible(timeout=PATIENCE_MS)
    visit.settle()

    visit.go_to("papers")  # what was uploaded and chosen is still there on the way back
    visit.go_to("training")
    expect(main).to_contain_text("Your last file is still here: reviews.tsv")
    expect(start).to_be_visible(timeout=PATIENCE_MS)
    visit.check()

    page.evaluate("window.__stayed = true")
    start.click()
    inspect = page.get_by_role("button", name="Inspect it")
    expect(inspect).to_be_visible(timeout=PATIENCE_MS)
    wait_for_state(visit, "finished")
    assert page.evaluate("window.__stayed")
    visit.picture("figure_training")
    visit.check()

    inspect.click()
    visit.arrive("inspect")
    expect_size(visit, "2 layers")
    for said in ("Why?", "bad", "good"):
        expect(main).to_contain_text(said)
    visit.check()
