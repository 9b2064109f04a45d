"""A table uploaded, fine-tuned on, watched without a reload to its end, and opened on Inspect."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit
from tests.support.finetuning_files import write_reviews

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE_MS = 240_000


def test_a_table_is_uploaded_learned_from_watched_and_inspected(
    visit: Visit, tiny_folder: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    table = write_reviews(tmp_path / "reviews.tsv", 64)
    visit.open(
        "training",
        runs=str(runs),
        training_view="Start a run",
        training_kind="finetune",
        table="upload",
        checkpoint=str(tiny_folder),
    )
    page = visit.page
    page.locator("input[type=file]").set_input_files(table)
    main = page.get_by_test_id("stMain")
    expect(main).to_contain_text("64 examples · 2 labels: bad (32), good (32)", timeout=PATIENCE_MS)
    expect(page.get_by_role("button", name="Fine-tune tiny")).to_be_visible(timeout=PATIENCE_MS)
    visit.settle()

    visit.go_to("papers")  # what was uploaded and chosen is still there on the way back
    visit.go_to("training")
    expect(main).to_contain_text("Your last file is still here: reviews.tsv")
    expect(page.get_by_role("button", name="Fine-tune tiny")).to_be_visible(timeout=PATIENCE_MS)
    visit.check()

    page.evaluate("window.__stayed = true")
    page.get_by_role("button", name="Fine-tune tiny").click()
    inspect = page.get_by_role("button", name="Inspect it")
    expect(inspect).to_be_visible(timeout=PATIENCE_MS)
    visit.settle()
    assert page.evaluate("window.__stayed")
    expect(page.locator(".stMarkdownBadge")).to_contain_text("finished")
    expect(main).to_contain_text("3 of 3")
    visit.picture("figure_training")
    expect(main).to_contain_text("dev examples")
    visit.check()

    inspect.click()
    visit.arrive("inspect")
    expect(page.get_by_test_id("stSidebarUserContent")).to_contain_text("2 layers")
    expect(main).to_contain_text("Why?")
    for label in ("bad", "good"):
        expect(main).to_contain_text(label)
    visit.check()


def test_a_run_of_the_terminal_is_watched_by_its_own_folder(
    new_visit: Callable[..., Visit], finetuned: Path
) -> None:
    visit = new_visit()
    visit.open("training", runs=str(finetuned))
    expect(visit.page.locator(".stMarkdownBadge")).to_contain_text("finished")
    visit.picture("figure_training")
    visit.page.get_by_role("button", name="Compare before and after").click()
    visit.arrive("compare")
    main = visit.page.get_by_test_id("stMain")
    expect(main).to_contain_text(f"The training of {finetuned.name} began with tiny")
    visit.check()


@pytest.fixture(scope="module")
def finetuned(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `bertscope finetune` leaves."""
    from bertcore.finetuning import make_settings, start_experiment

    folder = tmp_path_factory.mktemp("terminal")
    settings = make_settings(
        task="classify",
        train=write_reviews(folder / "train.tsv", 48),
        dev=write_reviews(folder / "dev.tsv", 16, seed=1),
        checkpoint=str(tiny_folder),
        learning_rates=(1e-3,),
        epochs=2,
        batch_size=8,
        max_seq_length=32,
        device="cpu",
    )
    assert start_experiment(folder / "reviews", settings).run() is not None
    return folder / "reviews"
