"""Files and checkpoints that cannot be read: one sentence, and text and choices are kept."""

import os
import re
import shutil
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Response, expect

from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser

MEBIBYTE = 2**20


class Program:
    """What a malicious pickle holds: opening it would make a folder."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.trace),)


def is_of_upload(response: Response) -> bool:
    """Return whether a response answers an upload, and not the removal of the file before."""
    return "upload_file" in response.url and response.request.method == "PUT"


def upload(visit: Visit, path: Path) -> None:
    """Upload a file; a next one that came before its end would cancel it."""
    box = visit.page.locator('[data-testid="stFileUploader"] input[type=file]')
    with visit.page.expect_response(is_of_upload) as answer:
        box.set_input_files(path)
    answer.value.finished()


def refused(visit: Visit, pattern: str) -> str:
    """Wait for an error that says this; it must be the only one, and a single sentence or two."""
    box = visit.page.get_by_test_id("stAlertContentError")
    expect(box).to_have_count(1)
    expect(box).to_have_text(re.compile(pattern))
    visit.settle()
    assert visit.page.get_by_test_id("stException").count() == 0
    (said,) = visit.errors()
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1
    return said


def test_uploads(visit: Visit, tmp_path: Path) -> None:
    visit.open("layer-map", text_a=TEXT_A, text_b=TEXT_B, map_source="file", map_method="pca")
    page = visit.page

    def made(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    upload(visit, made("no_text.csv", b"id,score\n"))
    refused(visit, "There is no sentence in column '(id|score)' of 'no_text.csv'")
    upload(visit, made("binary.csv", bytes(range(256)) * 40))
    refused(visit, "Data file 'binary.csv' is not text")
    upload(visit, made("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(500)))
    refused(visit, "'picture.csv' is a picture, not text")

    rows = "satz,art\nfür den Fluß,a\ngrüne Bäume,b\nder Mann,a\n"
    upload(visit, made("latin.csv", rows.encode("latin-1")))
    expect(page.get_by_text("which is a guess")).to_be_visible()
    visit.picture("figure_layer-map")
    visit.check()
    # The names of its columns say nothing: the longest cells were taken; another can be chosen.
    column = page.get_by_role("combobox", name="Column of the sentences")
    expect(column).to_have_value("satz")

    name = "<img src=x onerror=window.__pwned=1>"
    upload(visit, made(f"{name}.csv", b"text,label\n"))
    assert f"{name}.csv" in refused(visit, "no sentence in column")
    upload(visit, made(f"{name}2.csv", b"text,label\nthe river,a\nthe bank,b\nthe man,a\n"))
    visit.picture("figure_layer-map")
    visit.check()
    assert not visit.was_tricked()

    line = b"the river bank " * (MEBIBYTE // 15) + b"\n"
    large = (line * 51)[: 50 * MEBIBYTE]
    upload(visit, made("large.txt", large))
    expect(page.get_by_text("have the same vector as another")).to_be_visible()
    visit.picture("figure_layer-map")
    visit.check()
    upload(visit, made("larger.txt", large + line))
    refused(visit, "the limit is 50 MB")

    page.get_by_role("radio", name="This sentence").click()
    visit.picture("figure_layer-map")
    visit.check()
    expect(visit.box("A")).to_have_value(TEXT_A)
    expect(visit.box("B")).to_have_value(TEXT_B)


def test_checkpoints(visit: Visit, tiny_folder: Path, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(tiny_folder, tmp_path / name))

    (copy("no_config") / "config.json").unlink()
    weights = copy("cut_off") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    (copy("pickle") / "model.safetensors").unlink()
    trace = tmp_path / "the-pickle-ran"
    torch.save({"a": Program(trace)}, tmp_path / "pickle" / "pytorch_model.bin")

    visit.open("inspect", text_a=TEXT_A, text_b=TEXT_B)
    combobox = visit.page.get_by_role("combobox", name="Checkpoint")
    for source, sentence in {
        str(tmp_path / "missing"): "There is no folder .*missing",
        str(tmp_path / "no_config"): "no config.json",
        str(tmp_path / "cut_off"): "damaged, truncated",
        "nobody/such-a-model": "is not a folder here and not in the local cache",
        str(tmp_path / "pickle"): "a pickle, which can contain code",
    }.items():
        combobox.fill(source)
        combobox.press("Enter")
        visit.wait_for_query("checkpoint", source)
        refused(visit, sentence)
        expect(visit.page.get_by_text("Nothing is loaded: the page says why.")).to_be_visible()

    visit.page.get_by_role("button", name="I trust it").click()
    refused(visit, "pytorch_model.bin")
    expect(visit.page.get_by_role("button", name="I trust it")).to_have_count(0)
    assert not trace.exists()

    visit.go_to("tokens")  # the text is there, the checkpoint still is not
    refused(visit, "pytorch_model.bin")
    expect(visit.box("A")).to_have_value(TEXT_A)
    expect(visit.box("B")).to_have_value(TEXT_B)
    combobox.fill("another/such-model")
    combobox.press("Enter")
    visit.wait_for_query("checkpoint", "another/such-model")
    refused(visit, "is not a folder here and not in the local cache")
    combobox.fill(str(tiny_folder))
    combobox.press("Enter")
    visit.wait_for_query("checkpoint", str(tiny_folder))
    visit.picture()
    visit.check()
    expect(visit.box("A")).to_have_value(TEXT_A)
    expect(visit.box("B")).to_have_value(TEXT_B)
