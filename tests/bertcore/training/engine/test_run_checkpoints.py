"""Checkpoints of a run: which are kept, which is the best, and what damage and full disks do."""

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore import load
from bertcore.training.engine.run_folder import (
    STATE_FILE,
    SUMMARY_FILE,
    read_checkpoint,
    why_not_written,
)
from bertcore.training.pretraining import RunFolder
from tests.support.full_disk import largest_file
from tests.support.tiny import tiny_bert


def save(run: RunFolder, step: int, *, keep: int = 2, loss: float | None = None) -> Path:
    bert = tiny_bert(seed=step)
    state = {"step": step, "t": torch.ones(2)}
    return run.save_checkpoint(step, bert.save, state, keep=keep, valid_loss=loss)


def names(run: RunFolder) -> list[str]:
    return [folder.name for folder in run.checkpoints()]


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_newest_checkpoints_are_kept_and_open_anywhere(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    assert run.load_checkpoint() is None
    assert run.best_checkpoint() is None
    for step in (5, 10, 100, 20):
        save(run, step, keep=3)
    assert names(run) == ["step-10", "step-20", "step-100"]
    state = run.load_checkpoint()
    assert state["step"] == 100
    expected = tiny_bert(seed=100).module.state_dict()
    assert all(torch.equal(state["network"][name], value) for name, value in expected.items())
    assert load(run.checkpoints()[-1], device="cpu").tokenizer.vocab == tiny_bert().tokenizer.vocab


def test_the_best_is_kept_beside_the_newest(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    losses = {1: 3.0, 2: 2.5, 3: None, 4: 2.7, 5: 2.6, 6: None, 7: 2.5, 8: None, 9: 2.4, 10: 9.0}
    kept = {}
    for step, loss in losses.items():
        save(run, step, loss=loss)
        best = run.best_checkpoint()
        kept[step] = (best.name, names(run))
    assert kept[1] == ("step-1", ["step-1"])
    assert kept[3] == ("step-2", ["step-2", "step-3"])
    assert kept[6] == ("step-2", ["step-2", "step-5", "step-6"])
    assert kept[8] == ("step-2", ["step-2", "step-7", "step-8"])  # of equals the older one
    assert kept[9] == ("step-9", ["step-8", "step-9"])
    assert kept[10] == ("step-9", ["step-9", "step-10"])
    summary = json.loads((run.checkpoints()[0] / SUMMARY_FILE).read_text())
    assert (summary["step"], summary["valid_loss"]) == (9, 2.4)


def test_half_a_checkpoint_is_none_and_goes(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    save(run, 5)
    newer = save(run, 9)
    (newer / STATE_FILE).unlink()
    for name in (".step-12.partial", "..step-12.partial.x1y2", "step-x"):
        (tmp_path / "checkpoints" / name).mkdir()
    state = run.load_checkpoint()
    assert state["step"] == 5
    run.tidy_checkpoints(step=5, keep=2)
    assert not list((tmp_path / "checkpoints").glob(".*"))
    assert save(run, 9) == newer  # the half one is replaced
    assert names(run) == ["step-5", "step-9"]


def damage(file: Path, how: str) -> None:
    content = file.read_bytes()
    if how == "cut":
        file.write_bytes(content[:40])
    elif how == "gone":
        file.unlink()
    else:  # a single bit, which neither torch nor safetensors would notice
        middle = len(content) // 2
        changed = bytes([content[middle] ^ 1])
        file.write_bytes(content[:middle] + changed + content[middle + 1 :])


@pytest.mark.parametrize(
    ("name", "how"),
    [
        (STATE_FILE, "cut"),
        (STATE_FILE, "bit"),
        ("model.safetensors", "cut"),
        ("model.safetensors", "bit"),
        ("model.safetensors", "gone"),
        ("config.json", "cut"),
        ("vocab.txt", "bit"),
        (SUMMARY_FILE, "cut"),
    ],
)
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, name: str, how: str) -> None:
    run = RunFolder(tmp_path)
    save(run, 5)
    newest = save(run, 9)
    damage(newest / name, how)
    told: list[tuple[Path, str]] = []
    state = run.load_checkpoint(on_damage=lambda *damaged: told.append(damaged))
    assert state["step"] == 5
    ((folder, reason),) = told
    assert (folder, bool(reason), "\n" in reason) == (newest, True, False)
    assert names(run) == ["step-5", "step-9"]  # looking changes nothing
    run.tidy_checkpoints(step=5, keep=2)
    assert names(run) == ["step-5"]
    assert (tmp_path / "checkpoints" / "damaged-step-9").is_dir()
    assert save(run, 9) == newest
    damage(newest / name, how)
    run.tidy_checkpoints(step=5, keep=2)  # a second time the same
    damage(tmp_path / "checkpoints" / "step-5" / "config.json", "cut")
    with pytest.raises(RuntimeError, match=r"all 1 checkpoints .* are damaged .*step-5: ") as error:
        run.load_checkpoint()
    assert "Restore one from a copy, or delete" in str(error.value)


def test_a_checkpoint_without_hashes_is_known_by_opening_it(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    folder = save(run, 5)
    (folder / SUMMARY_FILE).unlink()  # as earlier versions wrote it
    read_checkpoint(folder)
    damage(folder / STATE_FILE, "cut")
    with pytest.raises(ValueError, match=r"."):
        read_checkpoint(folder)


@pytest.mark.parametrize("file", ["model.safetensors", STATE_FILE])
def test_a_full_disk_keeps_the_last_good_one(tmp_path: Path, file: str) -> None:
    """The limit of a file's size stops a write in its middle, as the end of a disk does."""
    run = RunFolder(tmp_path)
    good = save(run, 5)
    before = all_bytes(good)
    bert = tiny_bert()
    state = {"large": torch.zeros(2 * len(before["model.safetensors"]))}
    limit = len(before["model.safetensors"]) + (1000 if file == STATE_FILE else -1000)
    with largest_file(limit), pytest.raises(RuntimeError) as error:
        run.save_checkpoint(9, bert.save, state, keep=1)
    assert str(error.value) == (
        f"checkpoint step-9 could not be saved: the disk of {str(tmp_path / 'checkpoints')!r} is "
        "full. Free some space. step-5 is kept: continue from there with --resume."
    )
    assert [folder.name for folder in (tmp_path / "checkpoints").iterdir()] == ["step-5"]
    assert all_bytes(good) == before
    run.save_checkpoint(9, bert.save, state, keep=1)
    assert names(run) == ["step-9"]


def test_why_a_file_was_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(free: int) -> Any:
        return lambda place: shutil._ntuple_diskusage(10, 10 - free, free)

    full = "is full. Free some space."
    assert full in why_not_written(OSError(errno.ENOSPC, "No space left on device"), tmp_path)
    assert full in why_not_written(OSError(errno.EDQUOT, "Disk quota exceeded"), tmp_path)
    assert full in why_not_written(RuntimeError("I/O error: (os error 28)"), tmp_path)
    other = why_not_written(OSError(errno.EIO, "Input/output error"), tmp_path)
    assert other.startswith("[Errno 5] Input/output error. Check the disk of")
    monkeypatch.setattr(shutil, "disk_usage", usage(0))
    assert full in why_not_written(RuntimeError("unexpected pos 576 vs 534"), tmp_path)
