"""A visitor inspects fine-tuned checkpoints: a text, a file, and labels that want to harm."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bertcore.training.tasks.model import TaskModel
from tests.support.browser.visit import Visit
from tests.support.rigged_models import random_model
from tests.support.tiny import tiny_network

pytestmark = pytest.mark.browser

TEXT = "the film was very good"
WORDS = ("good", "old", "new")
TEXT_OF_ROW = re.compile(r"the (good|old|new) house")
IMAGE = "<img src=x onerror=window.__pwned=1>"
LABELS = (IMAGE, f"</script>{IMAGE}", "![a](http://foreign.invalid/a.png) $x$ :smile:")


def saved(task: str, folder: Path, labels: tuple[str, ...] | None = None) -> str:
    """Save a model with its masked-word head, so that it proposes words itself."""
    model: TaskModel = random_model(task)
    model.module.network.mlm = tiny_network().mlm
    return str(replace(model, labels=labels or model.labels).save(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inspected")


def test_a_text_is_explained_and_changed(visit: Visit, folder: Path) -> None:
    checkpoint = saved("classify", folder / "classifier")
    visit.open("inspect", checkpoint=checkpoint, text_a=TEXT)
    for name in ("answer", "words"):
        visit.picture(f"figure_inspect-{name}")
    visit.page.get_by_text("Which words would have to be different?").click()
    before = visit.page.get_by_role("heading", name="The model says").inner_text()
    visit.page.get_by_role("button", name="Use this text").first.click()
    expect(visit.box("A")).not_to_have_value(TEXT)
    expect(visit.page.get_by_role("heading", name="The model says")).not_to_have_text(before)
    visit.check()


def test_a_file_is_run_and_a_row_opened(visit: Visit, folder: Path, tmp_path: Path) -> None:
    checkpoint = saved("classify", folder / "classifier-of-files")
    path = tmp_path / "labelled.csv"
    rows = [f"the {word} house,{('bad', 'good')[i % 2]}" for i, word in enumerate(WORDS * 9)]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    visit.open("inspect", checkpoint=checkpoint, inspect_view="file", inspect_weak="1")
    visit.page.locator("input[type=file]").set_input_files(path)
    visit.page.get_by_role("button", name="Run the file").click()
    for name in ("confusion", "calibration", "slices"):
        visit.picture(f"figure_inspect-{name}")
    visit.check()
    table = visit.page.get_by_test_id("stDataFrame")
    expect(table).to_be_visible()
    # The box at the left of the first row, below the header.
    table.locator(".dvn-scroller").click(position={"x": 20, "y": 54})
    visit.picture("figure_inspect-words")
    expect(visit.box("A")).to_have_value(TEXT_OF_ROW)
    visit.check()


PICTURES = {"classify": "confusion", "tag": "confusion", "multilabel": "label-scores"}


@pytest.mark.parametrize("task", PICTURES)
def test_labels_and_files_that_want_to_harm(
    visit: Visit, folder: Path, tmp_path: Path, task: str
) -> None:
    checkpoint = saved(task, folder / f"hostile-{task}", LABELS)
    text = f"the film {IMAGE} was [b](javascript:window.__pwned=1)"
    for why, shown in (([], text), (["swaps"], f"film {IMAGE}")):
        visit.open("inspect", checkpoint=checkpoint, text_a=shown, inspect_why=why)
        visit.picture("figure_inspect-answer").hover()
        visit.check()
        assert not visit.was_tricked()
    visit.page.get_by_text("How good is it on a labelled file?").click()
    path = tmp_path / "labelled.txt"
    if task == "tag":
        lines = [f"{word}\t{label}" for word in ("film", IMAGE) for label in LABELS]
    else:
        lines = ["text\tlabel", *(f"{word} {text}\t{label}" for word in WORDS for label in LABELS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    visit.settle()
    visit.page.locator("input[type=file]").set_input_files(path)
    visit.page.get_by_role("button", name="Run the file").click()
    visit.picture(f"figure_inspect-{PICTURES[task]}").hover()
    visit.check()
    assert not visit.was_tricked()
