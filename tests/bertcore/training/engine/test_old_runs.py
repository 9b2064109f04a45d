"""Runs of version 0.1.0 and of a commit after it open and resume: the same numbers as they had."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore import load
from bertcore.training.engine.provenance import versions
from bertcore.training.finetuning import resume_experiment
from bertcore.training.pretraining import resume_run
from bertcore.training.tasks.model import open_task_model

OLD = Path(__file__).resolve().parents[3] / "data" / "runs_0.1.0"
LATER_OLD = OLD.with_name("runs_e3c29e99.tar.xz")
"""Two runs of commit e3c29e99, stopped like those of 0.1.0 (README.md there), and their metrics."""
LATER = {"valid_num_unknown"}
"""Columns of metrics.jsonl that later versions added."""


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the runs, which names its own place."""
    shutil.copytree(OLD, tmp_path / "runs")
    return _placed(tmp_path / "runs")


@pytest.fixture
def later_old(tmp_path: Path) -> Path:
    """The runs of e3c29e99, unpacked."""
    with tarfile.open(LATER_OLD) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from 3.11.4 on
        archive.extractall(tmp_path / "runs", **safely)
    return _placed(tmp_path / "runs")


def _placed(runs: Path) -> Path:
    """Write the place of the copy into the settings, and return it."""
    for name in ("pretraining/config.json", "finetuning/finetune.json"):
        text = (runs / name).read_text(encoding="utf-8").replace("@FOLDER@", str(runs))
        (runs / name).write_text(text, encoding="utf-8")
    return runs


def lines_of(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def assert_same_lines(lines: Path, expected: Path, made_by: Any) -> bool:
    """To 1e-5 where the same versions compute (another processor rounds otherwise); else nearly."""
    now = versions()
    is_same = all(now[name] == version for name, version in made_by.items() if name != "bertscope")
    close = {"rel": 1e-4, "abs": 1e-4} if is_same else {"rel": 0.05, "abs": 0.01}
    found, wanted = lines_of(lines), lines_of(expected)
    found = [{k: v for k, v in line.items() if k not in LATER} for line in found]
    wanted = [{k: v for k, v in line.items() if k not in LATER} for line in wanted]
    assert [list(line) for line in found] == [list(line) for line in wanted]
    for line, other in zip(found, wanted, strict=True):
        assert line == pytest.approx(other, **close)
    return is_same


def assert_same(ours: Path, theirs: Path, lines: Path, expected: Path, made_by: Any) -> None:
    is_same = assert_same_lines(lines, expected, made_by)
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


def test_the_runs_of_e3c29e99_resume(later_old: Path) -> None:
    run, folder = later_old / "pretraining", later_old / "finetuning"
    made_by = json.loads((run / "config.json").read_text(encoding="utf-8"))["versions"]
    resumed = resume_run(run)
    assert resumed.progress.step == 3
    assert resumed.run() is not None
    assert_same_lines(run / "metrics.jsonl", later_old / "pretraining.jsonl", made_by)
    steps: list[int] = []
    report = resume_experiment(folder).run(on_progress=lambda _, told: steps.append(told.step))
    assert (steps[0], report["best"]["num_steps"]) == (6, 12)
    (trial,) = (folder / "runs").iterdir()
    assert_same_lines(trial / "metrics.jsonl", later_old / "finetuning.jsonl", made_by)


def test_a_pretraining_whose_settings_went(old: Path) -> None:
    """Of 0.2.0: swapped text is packed, so it resumes; a penalty is no longer computed."""
    file = old / "pretraining" / "config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    swapped = {"name": "gender", "mode": "augment", "pairs": [["she", "he"]], "note": "N."}
    (file.parent / "tensorboard").mkdir()
    file.write_text(json.dumps({**settings, "swap": swapped, "direction": None}))
    assert resume_run(file.parent).progress.step == 3
    penalty = {"name": "gender", "weight": 1.0, "pairs": [["she", "he"]]}
    file.write_text(json.dumps({**settings, "direction": penalty}))
    with pytest.raises(ValueError, match=r"started with direction_penalty, which 0\.3\.0 removed"):
        resume_run(file.parent)
    train = {**settings["train"], "coach": True}
    file.write_text(json.dumps({**settings, "train": train}))
    with pytest.raises(ValueError, match="settings that this version does not know"):
        resume_run(file.parent)


def test_the_checkpoints_of_e3c29e99_answer_as_they_did(later_old: Path) -> None:
    text = "the dog was [MASK] ."
    states = load(later_old / "pretraining/checkpoints/step-3", device="cpu").trace(text)
    assert states.hidden_states[-1][0].tolist() == pytest.approx(
        [-1.267262, 0.067714, -0.315969, 1.511561], abs=1e-5
    )
    (trial,) = (later_old / "finetuning" / "runs").iterdir()
    model = open_task_model(trial / "best", device="cpu")
    with torch.no_grad():
        logits = model.module(torch.tensor([model.tokenizer.encode("the film was good").input_ids]))
    assert dict(zip(model.labels, logits[0].tolist(), strict=True)) == pytest.approx(
        {"bad": -0.003321, "good": 0.010142}, abs=1e-5
    )
