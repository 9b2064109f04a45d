"""Files and checkpoints as people have them, uploaded: a picture, or a true sentence."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.support.browser.visit import Visit
from tests.support.public_files import CASES, made
from tests.support.rigged_models import random_model

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PUBLIC = {case.file: case for case in CASES}
PICTURE = "figure_inspect-"
CONLL = "-DOCSTART- -X- O O\n\nthe DT B-NP O\nnew NN I-NP B-LOC\nhouse NN I-NP I-LOC\n\n" * 5
OTHERS = {
    "eng.testa": CONLL,
    "book.xlsx": b"",
    "pointer.csv": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 123\n",
}
INSPECTED = {
    # file: (labels of the classifier, None for a tagger; what comes)
    "IMDB Dataset.csv": (("negative", "positive"), PICTURE),
    "training.1600000.processed.noemoticon.csv": (("0", "4"), PICTURE),
    "SMSSpamCollection": (("ham", "spam"), PICTURE),
    "spam.csv": (("ham", "spam"), PICTURE),
    "train.ft.txt": (("negative", "positive"), PICTURE),  # 1 and 2, in that order
    "clinc.json": (("negative", "positive"), "several tables, 'val', 'train'"),
    "book.xlsx": (("negative", "positive"), "book.xlsx.*Save the table as CSV"),
    "pointer.csv": (("negative", "positive"), "a pointer of Git LFS"),
    "eng.testa": (None, PICTURE),
}
LEARNED = {
    "IMDB Dataset.csv": "12 examples · 2 labels: ",
    "training.1600000.processed.noemoticon.csv": "12 examples · 2 labels: ",
    "train.csv": "12 examples · 6 labels: ",
    "go_emotions.tsv": "12 examples · 3 labels: 27",
    "multinli_dev.jsonl": "12 examples · 3 labels: ",
    "stsb.csv": "12 examples",
    "eng.testa": "10 examples|5 examples",
    "clinc.json": "several tables, 'val', 'train'",
    "book.xlsx": "Save the table as CSV",
    "pointer.csv": "a pointer of Git LFS",
}


def file_of(name: str, folder: Path) -> Path:
    if name in PUBLIC:
        return made(PUBLIC[name], folder)
    content = OTHERS[name]
    path = folder / name
    if name == "book.xlsx":
        with zipfile.ZipFile(path, "w") as book:
            book.writestr("[Content_Types].xml", "<x/>")
            book.writestr("xl/workbook.xml", "<x/>")
        return path
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


_NOTE_RUNS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  window.__ran = false;
  new MutationObserver(() => {
    window.__ran ||= app.dataset.testScriptState === "running";
  }).observe(app, { attributes: true });
}"""


def upload(visit: Visit, path: Path) -> None:
    """Upload a file, and wait until the page has it."""
    box = visit.page.get_by_test_id("stMain").locator("input[type=file]")
    visit.page.evaluate(_NOTE_RUNS)
    with visit.page.expect_response(re.compile("upload_file")):
        box.set_input_files(path)
    with contextlib.suppress(PlaywrightTimeout):  # a run may be over before it is looked for
        visit.page.wait_for_function("() => window.__ran", polling=50, timeout=5_000)
    visit.settle()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[str, ...] | None], str]:
    """Return the folder of a classifier with these labels, or of a tagger."""
    folder = tmp_path_factory.mktemp("classifiers")

    def saved(labels: tuple[str, ...] | None) -> str:
        place = folder / "-".join(labels or ("tagger",))
        if not place.is_dir():
            random_model("tag" if labels is None else "classify", labels=labels).save(place)
        return str(place)

    return saved


def test_files_on_inspect(
    visit: Visit, checkpoint: Callable[[tuple[str, ...] | None], str], tmp_path: Path
) -> None:
    before = None
    for name, (labels, comes) in INSPECTED.items():
        if labels != before:
            visit.open("inspect", checkpoint=checkpoint(labels), inspect_view="file")
        before = labels
        upload(visit, file_of(name, tmp_path))
        run = visit.page.get_by_role("button", name="Run the file")
        error = visit.page.get_by_test_id("stAlertContentError")
        expect(run.or_(error).first).to_be_visible()
        if run.count() and not error.count():
            run.click()
        if comes == PICTURE:
            visit.picture(f"{PICTURE}confusion")
            visit.check()
        else:
            expect(error).to_have_text(re.compile(comes))
            assert name in visit.errors()[0]


def test_files_on_training(visit: Visit, tiny_folder: Path, tmp_path: Path) -> None:
    visit.open(
        "training",
        runs=str(tmp_path / "runs"),
        training_view="Start a run",
        training_kind="finetune",
        table="upload",
        checkpoint=str(tiny_folder),
    )
    main = visit.page.get_by_test_id("stMain")
    for name, comes in LEARNED.items():
        upload(visit, file_of(name, tmp_path))
        expect(main).to_contain_text(re.compile(comes))
        visit.settle()
        if "examples" in comes:
            visit.check()
