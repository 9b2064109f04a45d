"""Files that people have, uploaded on Training: each is counted, or a true sentence says why."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser.visit import Visit
from tests.support.public_files import CASES, made

pytestmark = pytest.mark.browser

PUBLIC = {case.file: case for case in CASES}
CONLL = "-DOCSTART- -X- O O\n\nthe DT B-NP O\nnew NN I-NP B-LOC\nhouse NN I-NP I-LOC\n\n" * 5
OTHERS = {
    "eng.testa": CONLL,
    "book.xlsx": b"",
    "pointer.csv": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 123\n",
}
LEARNED = {
    "IMDB Dataset.csv": "12 examples · 2 labels: ",
    "training.1600000.processed.noemoticon.csv": "12 examples · 2 labels: ",
    "train.csv": "12 examples · 6 labels: ",
    "go_emotions.tsv": "12 examples · 3 labels: 27",
    "multinli_dev.jsonl": "12 examples · 3 labels: ",
    "stsb_original.tsv": "12 examples",
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


def upload(visit: Visit, path: Path) -> None:
    visit.page.get_by_test_id("stMain").locator("input[type=file]").set_input_files(path)


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
