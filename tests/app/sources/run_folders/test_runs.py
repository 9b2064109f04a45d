"""The states of runs of all kinds, and their processes; a stand-in takes the command's place."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import streamlit as st

from app.sources.run_folders import process as training_process
from app.sources.run_folders import runs as training_runs
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.finetuning import start_experiment
from tests.support.finetuning_files import quick_settings, write_reviews
from tests.support.tiny import tiny_bert

CONFIG = {"train": {"steps": 100, "minutes": None}, "data_report": {"train": {}}}
LINE = {"step": 20, "loss": 5.0, "mlm_loss": 4.0, "seconds": 10.0, "num_tokens": 5000}
SCORES = {
    "valid_mlm_loss": 4.5,
    "valid_mlm_top1": 0.2,
    "valid_nsp_accuracy": 0.6,
    "valid_num_pairs": 64,
    "valid_share_random": 0.5,
}


@pytest.fixture(autouse=True)
def _fresh():
    st.cache_resource.clear()
    training_process._children.clear()
    training_process._ended.clear()
    yield
    st.cache_resource.clear()


def write_run(path: Path, *steps: int, config: object = CONFIG) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config))
    lines = [json.dumps(LINE | SCORES | {"step": step}) + "\n" for step in steps]
    (path / "metrics.jsonl").write_text("".join(lines))
    return path


def wait_for(wanted, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.05)


def test_states_of_runs(tmp_path):
    write_run(tmp_path / "half", 20, 50)
    write_run(tmp_path / "whole", 20, 100)
    write_run(tmp_path / "broken", 20, config=["no settings"])
    (tmp_path / "never.log").write_text("$ bertscope\nError: the text is too small.\n")
    (tmp_path / "notes").mkdir()
    (tmp_path / "a checkpoint").mkdir()
    (tmp_path / "a checkpoint" / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "a checkpoint" / "model.safetensors").write_bytes(b"")
    found = {run.name: run for run in training_runs.all_runs(tmp_path)}
    assert {name: run.state for name, run in found.items()} == {
        "half": "stopped",
        "whole": "finished",
        "broken": "damaged",
        "never": "not started",
    }
    assert found["never"].detail == "the text is too small."
    half = found["half"]
    assert (half.step, half.fraction_done, half.seconds_left) == (50, 0.5, 10.0)
    assert half.scores["valid_mlm_top1"] == 0.2
    assert "does not contain the settings" in found["broken"].detail


def test_a_run_by_the_clock(tmp_path):
    config = {"train": {"steps": None, "minutes": 0.5}}
    run = training_runs.read_run(write_run(tmp_path / "run", 20, config=config))
    assert run.fraction_done == pytest.approx(10 / 30)
    assert run.seconds_left == pytest.approx(20)


def test_a_locked_run_is_running_and_a_locked_hidden_folder_is_preparing(tmp_path):
    path = write_run(tmp_path / "run", 20)
    with lock_run(path):
        run = training_runs.read_run(path)
        assert (run.state, run.pid) == ("running", os.getpid())
    assert training_runs.read_run(path).state == "stopped"
    hidden = tmp_path / ".next.partial"
    hidden.mkdir()
    assert [run.name for run in training_runs.all_runs(tmp_path)] == ["run"]
    with lock_run(hidden):
        states = {run.name: run.state for run in training_runs.all_runs(tmp_path)}
    assert states == {"run": "stopped", "next": "preparing"}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"train": {}}', '{"train": {"steps": "many"}}', '{"train": 3}'],
)
def test_settings_that_cannot_be_read_are_a_damaged_run(tmp_path, text):
    path = write_run(tmp_path / "run", 20)
    (path / "config.json").write_text(text)
    run = training_runs.read_run(path)
    assert run.state == "damaged"
    assert run.detail
    assert "\n" not in run.detail


def test_a_line_cut_by_a_kill_is_left_out(tmp_path):
    path = write_run(tmp_path / "run", 20)
    with (path / "metrics.jsonl").open("ab") as lines:
        lines.write(b'{"step": 40, "lo\xff\xfe')
    assert [line["step"] for line in training_runs.metrics(path)] == [20]
    assert training_runs.read_run(path).state == "stopped"


def test_a_diverged_run_says_so(tmp_path):
    path = write_run(tmp_path / "run", 20)
    with (path / "metrics.jsonl").open("a") as lines:
        lines.write(json.dumps({"step": 33, "diverged": "loss nan, gradient norm nan"}) + "\n")
    run = training_runs.read_run(path)
    assert (run.state, run.step) == ("stopped", 20)
    assert run.detail.startswith("diverged: loss nan")


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a b", ".hidden", "-x", "x" * 61, "ü"])
def test_names_that_are_no_plain_folder_are_refused(name):
    with pytest.raises(ValueError, match="is not a valid name of a run"):
        training_process.check_name(name)
    training_process.check_name("run-1_B")


def start_stand_in(
    monkeypatch, run: Path, code: str, *, is_resumed: bool = False, kind="pretrain"
) -> None:
    """Start `code` in place of the command."""
    real = subprocess.Popen

    def popen(command, **options):
        assert command[1:5] == ["-P", "-m", "bertscope", kind]
        assert options["start_new_session"]
        return real([sys.executable, "-c", code], **options)

    settings = {"steps": 5} if kind == "pretrain" else {"task": "classify"}
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", popen)
        training_process.start(run, None if is_resumed else settings, kind=kind)


def test_what_a_process_says_is_in_the_log_and_its_end_is_seen(tmp_path, monkeypatch):
    run = tmp_path / "runs" / "mine"
    start_stand_in(monkeypatch, run, "import sys; sys.exit('Error: no text to train on.')")
    wait_for(lambda: training_process.pid_of(run) is None)
    log = training_process.log_file(run).read_text()
    assert log.startswith(f"$ bertscope pretrain --out {run} --recipe {run}.toml\n")
    found = training_runs.read_run(run)
    assert (found.state, found.detail) == ("not started", "no text to train on.")
    start_stand_in(monkeypatch, run, "raise KeyError('oops')", is_resumed=True)
    wait_for(lambda: training_process.pid_of(run) is None)
    assert training_process.why_ended(run) == "KeyError: 'oops'"
    assert "Error: no text" in training_process.log_file(run).read_text()


def test_stop_asks_a_run_to_save_and_ends_a_preparation(tmp_path, monkeypatch):
    wait = "import signal, sys, time; signal.signal(signal.SIGINT, lambda *_: sys.exit('saved'));"
    run = tmp_path / "mine"
    start_stand_in(monkeypatch, run, wait + "print('ready', flush=True); time.sleep(60)")
    log = training_process.log_file(run)
    wait_for(lambda: "ready" in log.read_text())
    assert training_runs.read_run(run).state == "preparing"
    assert training_process.num_alive() == 1
    other = training_runs.all_runs(tmp_path / "elsewhere")
    monkeypatch.setattr(training_process, "MAX_RUNNING", 1)
    with pytest.raises(ValueError, match="1 runs are already active"):
        training_runs.check_room(other)
    pid = training_process.pid_of(run)
    assert os.getsid(pid) == pid  # a session of its own: it does not end with the server
    training_process.stop(pid, has_begun=True)
    wait_for(lambda: training_process.pid_of(run) is None)
    assert log.read_text().endswith("saved\n")
    start_stand_in(monkeypatch, run, "import time; time.sleep(60)")
    pid = training_process.pid_of(run)
    child = training_process._children[run.resolve()]
    training_process.stop(pid, has_begun=False)
    wait_for(lambda: training_process.pid_of(run) is None)
    assert child.returncode == -signal.SIGTERM
    assert training_process.num_alive() == 0
    training_process.stop(pid, has_begun=True)  # it has ended: nothing to do


@pytest.mark.parametrize(("value", "may"), [("", True), ("0", True), ("1", False), ("yes", False)])
def test_a_server_may_forbid_to_start(tmp_path, monkeypatch, value, may):
    monkeypatch.setenv("BERTSCOPE_NO_TRAINING", value)
    assert training_process.may_start() is may
    if not may:
        with pytest.raises(ValueError, match="starts no training runs"):
            training_process.start(tmp_path / "run", {"steps": 5})
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of two rates, stopped within the second."""
    folder = tmp_path_factory.mktemp("tuned")
    tiny_bert().save(folder / "begin" / "tiny")
    train = write_reviews(folder / "all.tsv", 64)
    more = {"held_out": 0.25, "epochs": 2, "evaluate_every": 2, "learning_rates": (1e-5, 1e-4)}
    settings = quick_settings(folder / "begin" / "tiny", train, **more)
    experiment = start_experiment(folder / "mine", settings)
    steps: list[str] = []

    def should_stop() -> bool:
        return len(steps) > 15

    assert experiment.run(on_progress=lambda n, _: steps.append(n), should_stop=should_stop) is None
    return folder / "mine"


def test_progress_scores_and_trials_are_those_of_the_folder(stopped: Path) -> None:
    found = training_runs.read_run(stopped)
    assert (found.kind, found.state, found.num_examples) == ("finetune", "stopped", 48)
    assert [trial.path.name for trial in found.trials] == ["lr-1e-05-seed-1", "lr-0.0001-seed-1"]
    first, second = found.trials
    assert first.fraction_done == 1.0
    assert second.fraction_done == pytest.approx(second.lines[-1]["epoch"] / 2)
    assert found.fraction_done == pytest.approx((1 + second.fraction_done) / 2)
    assert found.step == sum(trial.lines[-1]["step"] for trial in found.trials)
    assert found.scores["dev_accuracy"] == second.lines[-1]["dev_accuracy"]
    assert found.current_trial == second
    assert found.checkpoint == stopped  # of the first rate, which is whole
    wrong = training_runs.dev_errors(second)
    assert wrong.num_examples == 16
    with lock_run(stopped):
        assert training_runs.read_run(stopped).state == "running"
        assert training_runs.read_run(stopped).pid == os.getpid()


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
    assert training_runs.dev_errors(found.trials[0]) is None
    assert found.checkpoint is None
    (trial / "result.json").write_text("{}")
    assert training_runs.read_run(old).state == "finished"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"task": "classify"}', "\x00"])
def test_damaged_settings_are_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "finetune.json").write_text(content)
    (found,) = training_runs.all_runs(tmp_path)
    assert (found.state, found.kind) == ("damaged", "finetune")
    assert found.detail


def test_a_killed_process_is_told(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "mine"
    start_stand_in(monkeypatch, path, "import time; time.sleep(60)", kind="finetune")
    pid = training_process.pid_of(path)
    found = training_runs.read_run(path)
    assert (found.state, found.kind, found.pid) == ("preparing", "finetune", pid)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: training_process.pid_of(path) is None)
    found = training_runs.read_run(path)
    assert (found.state, found.kind) == ("not started", "finetune")
    assert "was killed (signal 9)" in found.detail
