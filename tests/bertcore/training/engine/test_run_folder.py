"""Run folders: whole or not there, and never a metric or checkpoint too many after a kill."""

import json
from pathlib import Path

import pytest

from bertcore.training.engine.run_lock import LOCK_FILE, lock_holder
from bertcore.training.pretraining import RunFolder
from tests.support.full_disk import largest_file


def test_a_run_folder_is_built_under_another_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "new" / "run")
    with run.building() as partial:
        partial.write_config({"a": 1})
        (partial.data / "train").mkdir(parents=True)
        assert not run.path.exists()
        assert lock_holder(partial.path) is not None
    assert run.read_config() == {"a": 1}
    assert lock_holder(run.path) is None
    assert sorted(path.name for path in run.path.iterdir()) == ["config.json", "data", LOCK_FILE]
    assert [path.name for path in run.path.parent.iterdir()] == ["run"]


def test_what_a_kill_left_does_not_stop_a_new_start(tmp_path: Path) -> None:
    left = tmp_path / ".run.partial"
    left.mkdir()
    (left / "old").write_text("half")
    (left / "data").mkdir()
    (left / LOCK_FILE).write_text("of a process that is gone")
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()  # an empty folder is as good as none
    with run.building() as partial:
        partial.write_config({})
    assert sorted(path.name for path in run.path.iterdir()) == ["config.json", LOCK_FILE]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_only_a_new_folder_is_taken(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.check_is_new()
    run.write_config({})
    with pytest.raises(ValueError, match="Add --resume to continue it, or name a new folder"):
        run.check_is_new()


@pytest.mark.parametrize("content", [None, "{", "\xff"])
def test_no_run_to_resume(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "config.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="is not a training run that can be resumed"):
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


def test_a_line_of_metrics_on_a_full_disk_is_not_half_there(tmp_path: Path) -> None:
    """The limit of a file's size stops a write in its middle, as the end of a disk does."""
    run = RunFolder(tmp_path)
    run.write_config({})
    run.append_metrics({"step": 1, "loss": 0.5})
    before = run.metrics_file.read_bytes()
    with (
        largest_file(len(before) + 10),
        pytest.raises(
            RuntimeError, match=r"metrics of step 2 could not .* is full\. Free some"
        ) as error,
    ):
        run.append_metrics({"step": 2, "loss": 0.25})
    assert "no checkpoint yet, so --resume starts from the beginning" in str(error.value)
    assert run.metrics_file.read_bytes() == before
    run.append_metrics({"step": 2, "loss": 0.25})
    assert len(run.metrics_file.read_text().splitlines()) == 2
