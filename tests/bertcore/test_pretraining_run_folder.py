"""Run folders: whole or not there, and never a metric or checkpoint too many after a kill."""

import json
from pathlib import Path

import pytest
import torch

from bertcore import load
from bertcore.pretraining import RunFolder
from bertcore.pretraining.run_folder import STATE_FILE
from tests.bertcore.tiny import tiny_bert


def test_a_run_folder_is_built_under_another_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "new" / "run")
    with run.building() as partial:
        partial.write_config({"a": 1})
        (partial.data / "train").mkdir(parents=True)
        assert not run.path.exists()
    assert run.read_config() == {"a": 1}
    assert sorted(path.name for path in run.path.iterdir()) == ["config.json", "data"]
    assert [path.name for path in run.path.parent.iterdir()] == ["run"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    run = RunFolder(tmp_path / "run")
    with pytest.raises(error), run.building() as partial:  # noqa: PT012
        partial.write_config({})
        raise error
    assert list(tmp_path.iterdir()) == []


def test_what_a_kill_left_does_not_stop_a_new_start(tmp_path: Path) -> None:
    left = tmp_path / ".run.partial"
    left.mkdir()
    (left / "old").write_text("half")
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()  # an empty folder is as good as none
    with run.building() as partial:
        partial.write_config({})
    assert [path.name for path in run.path.iterdir()] == ["config.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_only_a_new_folder_is_taken(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.check_is_new()
    (run.path / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"is not empty\. Please name a new folder"):
        run.check_is_new()
    run.write_config({})
    with pytest.raises(ValueError, match="Add --resume to continue it, or name a new folder"):
        run.check_is_new()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        RunFolder(tmp_path / "file").check_is_new()


@pytest.mark.parametrize("content", [None, "{", "\xff"])
def test_no_run_to_resume(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="is no training run that can be resumed"):
        RunFolder(tmp_path).read_config()


def test_metrics_are_lines_and_forgotten_after_a_step(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.forget_metrics_after(3)
    assert not run.metrics_file.exists()
    for step in (1, 2, 3, 4, 5):
        run.append_metrics({"step": step, "loss": 1 / 3})
        # On disk at once, for whoever watches.
        assert json.loads(run.metrics_file.read_text().splitlines()[-1])["step"] == step
    with run.metrics_file.open("a") as lines:
        lines.write('{"step": 3, "lo')  # cut by a kill
    run.forget_metrics_after(3)
    lines_left = run.metrics_file.read_text().splitlines()
    assert [json.loads(line) for line in lines_left] == [
        {"step": step, "loss": 1 / 3} for step in (1, 2, 3)
    ]


def save(run: RunFolder, step: int, *, keep: int = 2) -> Path:
    bert = tiny_bert(seed=step)
    return run.save_checkpoint(
        step, bert.module, bert.tokenizer, {"step": step, "t": torch.ones(2)}, keep=keep
    )


def test_the_newest_checkpoints_are_kept_and_open_anywhere(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert run.load_checkpoint() is None
    for step in (5, 10, 100, 20):
        save(run, step, keep=3)
    assert [folder.name for folder in run.checkpoints()] == ["step-10", "step-20", "step-100"]
    state = run.load_checkpoint()
    assert state is not None
    assert state["step"] == 100
    expected = tiny_bert(seed=100).module.state_dict()
    assert all(torch.equal(state["network"][name], value) for name, value in expected.items())
    assert load(run.checkpoints()[-1], device="cpu").tokenizer.vocab == tiny_bert().tokenizer.vocab


def test_half_a_checkpoint_is_none(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    save(run, 5)
    newer = save(run, 9)
    (newer / STATE_FILE).unlink()
    for name in (".step-12.partial", "..step-12.partial.x1y2", "step-x"):
        (tmp_path / "checkpoints" / name).mkdir()
    state = run.load_checkpoint()
    assert state is not None
    assert state["step"] == 5
    assert not list((tmp_path / "checkpoints").glob(".*"))
    assert save(run, 9) == newer  # the half one is replaced
    assert [folder.name for folder in run.checkpoints()] == ["step-5", "step-9"]


@pytest.mark.parametrize("name", [STATE_FILE, "model.safetensors", "config.json"])
def test_a_damaged_checkpoint_tells_how_to_go_on(tmp_path: Path, name: str) -> None:
    run = RunFolder(tmp_path)
    save(run, 5)
    newest = save(run, 9)
    file = newest / name
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(RuntimeError, match=r"step-9' is damaged .* resume from the one before"):
        run.load_checkpoint()
    (tmp_path / "checkpoints" / "step-5").rename(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="resume from the start"):
        run.load_checkpoint()
