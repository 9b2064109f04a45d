"""Runs of version 0.1.0 still open and resume: the same numbers as that version had."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore.finetuning import resume_experiment
from bertcore.pretraining import resume_run
from bertcore.training.provenance import versions

OLD = Path(__file__).resolve().parents[2] / "data" / "runs_0.1.0"
LATER = {"valid_num_unknown"}
"""Columns of metrics.jsonl that later versions added."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the runs, which names its own place."""
    shutil.copytree(OLD, tmp_path / "runs")
    for name in ("pretraining/config.json", "finetuning/finetune.json"):
        file = tmp_path / "runs" / name
        text = file.read_text(encoding="utf-8").replace("@FOLDER@", str(tmp_path / "runs"))
        file.write_text(text, encoding="utf-8")
    return tmp_path / "runs"


def lines_of(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def assert_same(ours: Path, theirs: Path, lines: Path, expected: Path, made_by: Any) -> None:
    """To 1e-5 where the same versions compute (another processor rounds otherwise); else nearly."""
    now = versions()
    is_same = all(now[name] == version for name, version in made_by.items())
    close = {"rel": 1e-4, "abs": 1e-4} if is_same else {"rel": 0.05, "abs": 0.01}
    found, wanted = lines_of(lines), lines_of(expected)
    found = [{k: v for k, v in line.items() if k not in LATER} for line in found]
    assert [list(line) for line in found] == [list(line) for line in wanted]
    for line, other in zip(found, wanted, strict=True):
        assert line == pytest.approx(other, **close)
    a, b = load_file(ours), load_file(theirs)
    assert set(a) == set(b)
    for name, tensor in a.items():
        rtol, atol = (1e-3, 1e-5) if is_same else (0.05, 0.02)
        torch.testing.assert_close(tensor, b[name], rtol=rtol, atol=atol)


def test_a_pretraining_of_0_1_0_resumes(old: Path) -> None:
    run = old / "pretraining"
    made_by = json.loads((run / "config.json").read_text(encoding="utf-8"))["versions"]
    resumed = resume_run(run)
    assert (resumed.progress.step, resumed.progress.num_tokens > 0) == (3, True)
    assert resumed.run() is not None
    assert_same(
        run / "checkpoints" / "step-8" / "model.safetensors",
        old / "pretraining.safetensors",
        run / "metrics.jsonl",
        old / "pretraining.jsonl",
        made_by,
    )


def test_a_fine_tuning_of_0_1_0_resumes(old: Path) -> None:
    folder = old / "finetuning"
    made_by = json.loads((folder / "finetune.json").read_text(encoding="utf-8"))["versions"]
    steps: list[int] = []
    report = resume_experiment(folder).run(on_progress=lambda _, told: steps.append(told.step))
    assert report is not None
    assert steps[0] == 6  # it had been stopped after step 5
    assert report["best"]["num_steps"] == 12
    (run,) = (folder / "runs").iterdir()
    assert_same(
        folder / "model.safetensors",
        old / "finetuning.safetensors",
        run / "metrics.jsonl",
        old / "finetuning.jsonl",
        made_by,
    )
