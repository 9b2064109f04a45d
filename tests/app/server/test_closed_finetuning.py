"""Fine-tuning on a closed server: a visitor's own table and folder, within limits, no more."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.screens.training import finetune_form
from app.server import checkpoints, policy, visits
from app.sources.run_folders import process as training_process
from app.sources.run_folders import runs as training_runs
from tests.support.closed import be, closed
from tests.support.opened import button, complaints, finish_jobs, ok, page_of, said

TABLE = "text,label\n" + "the film was good,g\nthe film was bad,b\n" * 20


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, dict[str, Any]]]:
    calls: list[tuple[Path, dict[str, Any]]] = []

    def start(run: Path, settings: dict[str, Any], **how: Any) -> None:
        calls.append((run, settings))
        training_process.log_file(run).write_text("$ bertscope finetune\n")

    monkeypatch.setattr(training_process, "start", start)
    return calls


@pytest.fixture(autouse=True)
def visit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path) -> Iterator[visits.Visit]:
    """A visitor of a server with one checkpoint, who may train for ten minutes."""
    st.cache_resource.clear()
    training_process._children.clear()
    shutil.copytree(tiny, tmp_path / "shared" / "law")
    with closed(monkeypatch, tmp_path / "shared", **{policy.ALLOW_TRAINING: "10"}):
        yield be(monkeypatch, tmp_path / "visit")


def form(**query: str) -> AppTest:
    usual = {"runs": "own", "training_view": "Start a run", "training_kind": "finetune"}
    return page_of("training", **{**usual, "checkpoint": "law", "table": "upload", **query})


def with_table() -> AppTest:
    at = form().run()
    at.file_uploader(key="table_upload").upload("t.csv", TABLE.encode(), "text/csv").run()
    for _ in range(4):
        if at.get("progress"):
            finish_jobs()
            at.run()
    return ok(at)


def test_a_run_is_of_the_visitors_own_table_in_the_visitors_own_folder(
    started: list[tuple[Path, dict[str, Any]]], visit: visits.Visit, tmp_path: Path
) -> None:
    at = with_table()
    assert str(tmp_path) not in said(at) + at.code[0].value + at.code[1].value
    button(at, "Fine-tune law").click().run()
    assert not at.exception
    run, given = started[0]
    assert run == visit.folder / "runs" / "run-1"
    assert given["train"] == visit.folder / "runs" / "run-1-data" / "train.csv"
    assert given["checkpoint"] == str(tmp_path / "shared" / "law")


def test_no_file_of_the_server_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(TABLE.replace("film", "password"))
    at = form(table="path", table_path=str(secret), dev_path=str(secret)).run()
    assert at.segmented_control(key="table").value != "path"
    assert "path" not in at.segmented_control(key="table").options
    assert not [box for box in at.text_input if "Path" in box.label]
    assert "password" not in said(at)


@pytest.mark.parametrize("name", ["../up", "/tmp/x", "a/../b"])
def test_no_name_leads_out_of_the_folder(
    started: list[tuple[Path, dict[str, Any]]], visit: visits.Visit, name: str
) -> None:
    at = with_table()
    at.text_input(key="run_name").set_value(name).run()
    button(at, "Fine-tune").click().run()
    assert "is not a valid name of a run" in complaints(at)
    assert not started


def test_a_run_that_is_too_large_is_refused_and_a_long_one_stopped(
    started: list[tuple[Path, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = with_table()
    assert "This server stops a run after 10 minutes" in said(at)
    with monkeypatch.context() as patch:
        patch.setattr(finetune_form, "written_bytes", lambda *_, **__: 10**12)
        button(at, "Fine-tune").click().run()
        assert "this run would write 1000000 MB" in complaints(at).lower().replace("mb", "MB")
    assert not started


def test_one_run_at_a_time(
    started: list[tuple[Path, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, visit: visits.Visit
) -> None:
    at = with_table()
    with monkeypatch.context() as patch:
        busy = training_runs.Run(visit.folder / "runs" / "other", "running", kind="finetune")
        patch.setattr("app.screens.training.new_run.all_runs", lambda folder: [busy])
        button(at, "Fine-tune").click().run()
    assert "One of your runs is still running" in complaints(at)
    assert not started


def finetuned(folder: Path, tiny: Path) -> Path:
    """Write what a fine-tuning leaves; its wrong examples hold a text."""
    shutil.copytree(tiny, folder)
    config = {"epochs": 1, "metric": None}
    values = {"task": "classify", "config": config, "learning_rates": [1e-3], "seeds": [1]}
    (folder / "finetune.json").write_text(json.dumps({**values, "checkpoint": "default"}))
    trial = folder / "runs" / "lr-0.001-seed-1"
    trial.mkdir(parents=True)
    line = {"step": 1, "epoch": 1.0, "dev_loss": 0.5, "dev_accuracy": 0.5, "seconds": 1.0}
    (trial / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    (trial / "result.json").write_text("{}")
    wrong = {"row": 1, "text": "a private text", "text_pair": None, "gold": "g"}
    wrong |= {"predicted": "b", "severity": 0.9}
    errors = {"step": 1, "num_examples": 2, "num_wrong": 1, "errors": [wrong]}
    (trial / "dev_errors.json").write_text(json.dumps(errors))
    return folder


def test_what_others_learned_from_is_not_shown(
    tiny: Path, visit: visits.Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = finetuned(visit.place("runs") / "mine", tiny)
    finetuned(tmp_path / "shared" / "theirs", tiny)
    at = ok(page_of("training", runs="own").run())
    assert at.selectbox(key="run").options == ["mine"]
    assert at.dataframe[0].value["text"].tolist() == ["a private text"]
    assert str(tmp_path) not in said(at)
    button(at, "Inspect it")
    assert checkpoints.place(checkpoints.name_of(own)) == str(own)
    assert training_runs.all_runs(tmp_path / "shared") == []
    be(monkeypatch, tmp_path / "another")
    assert training_runs.all_runs(own.parent) == []
    at = page_of("training", runs="own").run()
    assert "a private text" not in said(at)
    assert not at.dataframe
