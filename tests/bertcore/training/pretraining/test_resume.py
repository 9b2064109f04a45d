"""Resuming: after damage, full disks, changed data and other versions, from the command line."""

import importlib
import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertcore import load
from bertcore.base.device import compute_format
from bertcore.training.engine.provenance import versions
from bertcore.training.engine.run_lock import lock_holder
from bertcore.training.pretraining import resume_run
from tests.support.command_line import invoke, metrics, recipe, refusal, succeed, words_of
from tests.support.exhaustive import all_but
from tests.support.full_disk import largest_file
from tests.support.kit import edit
from tests.support.tiny import tiny_bert
from tests.support.tiny_runs import at_step, killed_at


@pytest.fixture(scope="module")
def whole(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 steps that nobody disturbed; for looking only."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    words = words_of(texts, run, "--steps", "12", *recipe(evaluate_every=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["bertscope", *words])  # as typed: a run records it
        succeed(*words)
    return run


@pytest.fixture(scope="module")
def killed(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with the same run and its own texts, and a copy of that folder.

    The run was killed after 10 steps and has checkpoints of 6 and 9.
    """

    place = tmp_path_factory.mktemp("killed") / "place"
    shutil.copytree(texts, place / "texts")
    words = words_of(place / "texts", place / "run", "--steps", "12", *recipe(evaluate_every=2))
    with killed_at(10):
        invoke(*words)
    return place, shutil.copytree(place, place.with_name("as-it-was"))


@pytest.fixture
def stopped(killed: tuple[Path, Path]) -> Path:
    """The killed run, as it was: at its place, which it has written down, with the same times."""
    place, as_it_was = killed
    shutil.rmtree(place)
    shutil.copytree(as_it_was, place)
    return place / "run"


def resume(run: Path) -> str:
    """Resume a run to its end; return what it told beside its output."""
    result = invoke("pretrain", "--out", run, "--resume")
    assert result.exit_code == 0, (result.stderr, result.exception)
    return " ".join(result.stderr.split())


def assert_same(run: Path, whole: Path) -> None:
    assert metrics(run) == metrics(whole)
    ours, theirs = (load(r / "checkpoints" / "step-12", device="cpu") for r in (run, whole))
    for a, b in zip(ours.module.parameters(), theirs.module.parameters(), strict=True):
        assert torch.equal(a, b)


def checkpoints(run: Path) -> list[str]:
    return sorted(folder.name for folder in (run / "checkpoints").iterdir())


def test_a_damaged_checkpoint_is_told_and_passed_over(stopped: Path, whole: Path) -> None:
    assert metrics(stopped)[-1]["step"] == 10
    file = stopped / "checkpoints" / "step-9" / "training_state.pt"
    file.write_bytes(file.read_bytes()[:-9])
    told = resume(stopped)
    assert (
        "step-9 is damaged (training_state.pt is not as it was written), so the run continues"
        in told
    )
    assert "kept as damaged-step-9" in told
    assert_same(stopped, whole)
    assert sorted([*checkpoints(whole), "damaged-step-9"]) == checkpoints(stopped)


def test_all_damaged_is_one_sentence_and_changes_nothing(stopped: Path, whole: Path) -> None:
    for folder in (stopped / "checkpoints").iterdir():
        (folder / "model.safetensors").write_bytes(b"")
    before = (stopped / "metrics.jsonl").read_bytes()
    sentence = refusal("pretrain", "--out", stopped, "--resume")
    assert "are damaged (the newest, step-9: model.safetensors is not as it was" in sentence
    assert "Restore one from a copy, or delete" in sentence
    assert (stopped / "metrics.jsonl").read_bytes() == before
    shutil.rmtree(stopped / "checkpoints")  # as it says
    resume(stopped)
    assert_same(stopped, whole)


def test_a_full_disk_stops_the_run_and_keeps_the_last_checkpoint(
    texts: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    disk = ExitStack()
    # Up to the place where the weights are half written.
    at_step(8, lambda: disk.enter_context(largest_file(20_000)), monkeypatch)
    with disk:
        sentence = refusal(*words_of(texts, run, "--steps", "12", *recipe(evaluate_every=2)))
    monkeypatch.undo()
    assert "checkpoint step-9 could not be saved: the disk of" in sentence
    assert (
        "is full. Free some space. step-6 is kept: continue from there with --resume." in sentence
    )
    assert "step-6" in checkpoints(run)
    assert not [name for name in checkpoints(run) if "step-9" in name]
    assert metrics(run)[-1]["step"] == 8
    resume(run)
    assert_same(run, whole)
    assert checkpoints(run) == checkpoints(whole)


@pytest.mark.parametrize("room", all_but([100], [0, 100]))
def test_a_full_disk_at_the_start_of_a_resume_loses_nothing(
    stopped: Path, whole: Path, room: int
) -> None:
    before = sorted(stopped.rglob("*"))
    with largest_file(room):
        sentence = refusal("pretrain", "--out", stopped, "--resume")
    assert "is full. Free some space. step-9 is kept: continue from there" in sentence
    assert sorted(stopped.rglob("*")) == before
    resume(stopped)
    assert_same(stopped, whole)


@pytest.mark.parametrize("room", all_but([100], [0, 100, 2000]))
def test_a_full_disk_at_the_start_of_a_run_leaves_nothing(
    texts: Path, tmp_path: Path, room: int
) -> None:
    words = words_of(texts, tmp_path / "run", "--steps", "2")
    with largest_file(room):
        sentence = refusal(*words)
    assert "is full. Free some space. No part of the run is left: start it again." in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_run_says_what_it_is_made_of(texts: Path, whole: Path) -> None:
    settings = json.loads((whole / "config.json").read_text())
    assert settings["command"].startswith("bertscope pretrain ")
    assert f" --out {whole} " in settings["command"]
    assert settings["command"].count(" --steps 12 --recipe ")
    assert settings["directory"] == os.getcwd()
    assert settings["train"]["seed"] == 7
    format_here = compute_format("auto", torch.device("cpu")).dtype  # --dtype is not given
    assert settings["train"]["dtype"] == format_here
    assert settings["versions"] == versions()
    for name in ("train", "valid"):
        (source,) = settings["sources"][name]
        file = texts / f"{name}.txt"
        assert (source["path"], source["bytes"]) == (str(file), file.stat().st_size)
        assert len(source["sha256"]) == 64
        packed = settings["packed"][name]
        assert packed["fingerprint"] == (whole / "data" / name / "fingerprint").read_text()


def touch(path: Path, content: bytes | None = None) -> None:
    """Give a file another time, and content if there is any."""
    if content is not None:
        path.write_bytes(content)
    os.utime(path, ns=(10**18, 10**18))


@pytest.mark.parametrize("name", ["train.txt", "valid.txt"])
def test_a_text_that_changed_is_refused_with_the_reason(stopped: Path, name: str) -> None:
    file = stopped.parent / "texts" / name
    good, time = file.read_bytes(), file.stat().st_mtime_ns
    what = "training text" if name == "train.txt" else "held-out text"
    touch(file, good + b"More.\n")
    sentence = refusal("pretrain", "--out", stopped, "--resume")
    assert f"the {what} '{file}' changed since the run was started" in sentence
    assert f"it had {len(good):,} bytes and has {len(good) + 6:,}. Restore that file" in sentence
    touch(file, good.replace(b"dog", b"cat"))
    sentence = refusal("pretrain", "--out", stopped, "--resume")
    assert "the size is the same, but the content (of 2001-09-09 01:46:40 UTC) is not" in sentence
    assert metrics(stopped)[-1]["step"] == 10  # nothing was dropped
    file.write_bytes(good)
    os.utime(file, ns=(time, time))
    resume(stopped)


@pytest.mark.parametrize("change", ["touched", "gone", "elsewhere", "old"])
def test_what_does_not_matter_does_not_stop(stopped: Path, whole: Path, change: str) -> None:
    place, run = stopped.parent / "texts", stopped
    if change == "touched":
        touch(place / "train.txt")
        touch(run / "data" / "train" / "ids.npy")
    elif change == "gone":
        shutil.rmtree(place)
    elif change == "elsewhere":
        run = stopped.parent / "moved"
        shutil.copytree(stopped, run, copy_function=shutil.copy)  # with other times
        shutil.rmtree(stopped)
    else:  # a run of an earlier version
        later = ("sources", "packed", "tokenizer", "git", "directory", "started")
        edit(run, **dict.fromkeys(later))
    resume(run)
    assert_same(run, whole)


def test_packed_data_that_changed_is_refused(stopped: Path) -> None:
    file = stopped / "data" / "valid" / "ids.npy"
    ids = np.load(file)
    ids[-1] += 1
    np.save(file, ids)
    touch(file)
    sentence = refusal("pretrain", "--out", stopped, "--resume")
    assert "changed since the run was started (fingerprint" in sentence


def test_a_tokenizer_that_changed_is_refused(stopped: Path) -> None:
    folder = stopped / "data" / "tokenizer"
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("mat", "tam"))
    assert "tokenizer" in (sentence := refusal("pretrain", "--out", stopped, "--resume"))
    assert "changed since the run was started" in sentence


def test_a_text_that_grows_while_it_is_read_is_refused(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "texts"
    shutil.copytree(texts, place)
    module = importlib.import_module("bertcore.training.pretraining.start_run")
    pack = module.pack_corpus_to

    def pack_slowly(*arguments: Any) -> Any:
        packed = pack(*arguments)
        with (place / "train.txt").open("a") as file:
            file.write("More.\n")
        return packed

    monkeypatch.setattr(module, "pack_corpus_to", pack_slowly)
    sentence = refusal(*words_of(place, tmp_path / "run", "--steps", "2"))
    assert "train.txt' changed while it was read. Wait until it is complete" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["texts"]


@pytest.mark.parametrize("has_products", [True, False])
def test_a_run_goes_on_in_its_format_on_another_processor(
    stopped: Path, whole: Path, monkeypatch: pytest.MonkeyPatch, has_products: bool
) -> None:
    monkeypatch.setattr("bertcore.base.device.computes_bfloat16", lambda device: has_products)
    dtype = json.loads((whole / "config.json").read_text())["train"]["dtype"]
    told = resume(stopped)
    assert f"Computing in {dtype}" in told
    is_slow = dtype == "bfloat16" and not has_products
    assert ("float32 can be much faster" in told) == is_slow
    assert_same(stopped, whole)


def test_other_versions_are_told(stopped: Path) -> None:
    versions = json.loads((stopped / "config.json").read_text())["versions"]
    edit(stopped, versions=versions | {"torch": "1.0", "unheard-of": "2"})
    told = resume(stopped)
    assert f"(torch 1.0 -> {torch.__version__})" in told
    assert "may differ in the last digits" in told


def test_a_run_is_locked_while_it_trains(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    seen = []
    at_step(1, lambda: seen.append(lock_holder(run)), monkeypatch)
    succeed(*words_of(texts, run, "--steps", "2"))
    assert [holder is not None and holder.pid for holder in seen] == [os.getpid()]
    assert lock_holder(run) is None


def test_a_run_that_went_on_elsewhere_is_not_written_over(stopped: Path) -> None:
    early, late = resume_run(stopped), resume_run(stopped)
    assert late.run() is not None
    before = metrics(stopped)
    with pytest.raises(ValueError, match=r"has step-12, but this process is at step 9"):
        early.run()
    assert metrics(stopped) == before


def test_a_checkpoint_or_fine_tuning_run_is_named_as_what_it_is(tmp_path: Path) -> None:
    tiny_bert().save(tmp_path / "tuned")
    said = refusal("pretrain", "--out", tmp_path / "tuned", "--resume")
    assert "is no pretraining run: its config.json is that of a checkpoint" in said
    assert "bertscope finetune --resume" in said
