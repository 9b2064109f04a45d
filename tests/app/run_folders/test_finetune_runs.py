"""Fine-tunings in a folder of runs: read as they are, whole or not, of this version or before."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import streamlit as st

from app.run_folders import finetune_runs, run
from app.run_folders import process as training_process
from app.run_folders import runs as training_runs
from bertcore.finetuning import make_settings, start_experiment
from bertcore.training.run_lock import lock_run
from tests.support.finetuning_files import write_reviews
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of two rates, stopped within the second."""
    folder = tmp_path_factory.mktemp("tuned")
    tiny_bert().save(folder / "begin" / "tiny")
    settings = make_settings(
        task="classify",
        train=write_reviews(folder / "all.tsv", 64),
        dev=None,
        held_out=0.25,
        checkpoint=str(folder / "begin" / "tiny"),
        learning_rates=(1e-5, 1e-4),
        epochs=2,
        evaluate_every=2,
        batch_size=8,
        max_seq_length=32,
        device="cpu",
    )
    experiment = start_experiment(folder / "mine", settings)
    steps: list[str] = []

    def should_stop() -> bool:
        return len(steps) > 15

    assert experiment.run(on_progress=lambda n, _: steps.append(n), should_stop=should_stop) is None
    return folder / "mine"


@pytest.fixture(autouse=True)
def _fresh():
    st.cache_resource.clear()
    training_process._children.clear()
    training_process._ended.clear()
    yield
    st.cache_resource.clear()


def test_progress_scores_and_trials_are_those_of_the_folder(stopped: Path) -> None:
    found = training_runs.read_run(stopped)
    assert (found.kind, found.state, found.num_examples) == ("finetune", "stopped", 48)
    assert [trial.name for trial in found.trials] == ["lr-1e-05-seed-1", "lr-0.0001-seed-1"]
    first, second = found.trials
    assert first.fraction_done == 1.0
    assert second.fraction_done == pytest.approx(second.lines[-1]["epoch"] / 2)
    assert found.fraction_done == pytest.approx((1 + second.fraction_done) / 2)
    assert found.step == sum(trial.lines[-1]["step"] for trial in found.trials)
    assert found.scores is not None
    assert found.scores["dev_accuracy"] == second.lines[-1]["dev_accuracy"]
    assert finetune_runs.current_trial(found) == second
    assert finetune_runs.checkpoint_of(found) == stopped  # of the first rate, which is whole
    wrong = finetune_runs.dev_errors(second)
    assert wrong is not None
    assert wrong.num_examples == 16
    with lock_run(stopped):
        assert training_runs.read_run(stopped).state == "running"
        assert training_runs.read_run(stopped).pid == os.getpid()


def test_both_kinds_are_listed_where_both_are_wanted(stopped: Path) -> None:
    names = [found.name for found in training_runs.all_runs(stopped.parent)]
    assert names == ["mine"]
    assert training_runs.list_runs(stopped.parent) == []
    assert training_runs.is_any_run(stopped)
    assert not training_runs.is_any_run(stopped.parent)


def test_a_folder_of_an_older_version_is_read(stopped: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    trial = old / "runs" / "lr-0.0003-seed-1"
    trial.mkdir(parents=True)
    settings = json.loads((stopped / "finetune.json").read_text())
    settings |= {"learning_rates": [3e-4], "dev": "dev.tsv"}
    for name in ("data", "held_out", "sample"):
        del settings[name]
    (old / "finetune.json").write_text(json.dumps(settings))
    line = {"step": 3, "epoch": 1.0, "dev_loss": 0.5, "dev_accuracy": 0.75, "seconds": 2.0}
    (trial / "metrics.jsonl").write_text(json.dumps(line) + "\n" + '{"step": 4, "los')
    found = training_runs.read_run(old)
    assert (found.state, found.fraction_done, found.num_examples) == ("stopped", 0.5, 0)
    assert finetune_runs.dev_errors(found.trials[0]) is None
    assert finetune_runs.checkpoint_of(found) is None
    (trial / "result.json").write_text("{}")
    assert training_runs.read_run(old).state == "finished"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"task": "classify"}', "\x00"])
def test_damaged_settings_are_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "finetune.json").write_text(content)
    (found,) = training_runs.all_runs(tmp_path)
    assert (found.state, found.kind) == ("damaged", "finetune")
    assert found.detail


def wait_until_ended(path: Path) -> None:
    deadline = time.monotonic() + 30
    while training_process.pid_of(path) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def start_stand_in(monkeypatch, path: Path, code: str) -> int:
    """Start `code` in place of the command; return its process."""
    real = training_process.subprocess.Popen

    def popen(command, **options):
        assert command[1:5] == ["-P", "-m", "bertscope", "finetune"]
        return real([sys.executable, "-c", code], **options)

    with monkeypatch.context() as patch:
        patch.setattr(training_process.subprocess, "Popen", popen)
        training_process.start(path, {"task": "classify"}, kind="finetune")
    pid = training_process.pid_of(path)
    assert pid is not None
    return pid


def test_a_killed_process_is_told(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "mine"
    pid = start_stand_in(monkeypatch, path, "import time; time.sleep(60)")
    found = training_runs.read_run(path)
    assert (found.state, found.kind, found.pid) == ("preparing", "finetune", pid)
    os.kill(pid, signal.SIGKILL)
    wait_until_ended(path)
    found = training_runs.read_run(path)
    assert (found.state, found.kind) == ("not started", "finetune")
    assert "was killed (signal 9)" in found.detail
    assert found.detail.endswith("Nothing was saved: start another run.")
    assert "resume" not in found.detail, "there is nothing to resume"
    path.mkdir()  # before its first file is written
    assert "resume" not in training_runs.read_run(path).detail
    assert "What was saved is kept: resume the run." in run.why_stopped(path)


def test_a_stop_is_no_error(stopped: Path) -> None:
    log = training_process.log_file(stopped)
    log.write_text("$ bertscope finetune\nStopped and saved. Continue with: bertscope\n")
    assert training_runs.read_run(stopped).detail == ""
    log.unlink()
