"""Several processes fine-tune what one would."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from bertcore.training.finetuning import Experiment, resume_experiment
from bertcore.training.finetuning.state import load_state
from bertcore.training.tasks import find_task
from bertcore.training.tasks.rows import IGNORED
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.command_line import recipe
from tests.support.exhaustive import all_but
from tests.support.finetuning_files import WRITERS
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.together import launch, run_together

KILL_AT_STEP = """
import os, signal, sys
from pathlib import Path
from bertcore.training.finetuning import resume_experiment

def kill(name, progress):
    if progress.step == 10 and progress.is_scored:
        os.kill(os.getpid(), signal.SIGKILL)

resume_experiment(Path(sys.argv[1])).run(on_progress=kill)
"""
"""A run that dies at its look at step 10, which is not saved any more."""


def finetune(num_processes: int, *options: Any) -> dict[str, Any]:
    """Run `bertscope finetune` in one process or several; return its report."""
    stdout, _ = run_together(num_processes, ["finetune", "--json", *options])
    report: dict[str, Any] = json.loads(stdout)  # the main process speaks for all
    return report


def start(folder: Path, task: str, num_processes: int, *more: Any) -> dict[str, Any]:
    """Fine-tune a tiny network without dropout; 45 examples leave a last batch of 5."""
    folder.mkdir()
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    checkpoint = tiny_bert(tiny_config(**still)).save(folder / "tiny")
    writer, ending = WRITERS[task]
    files = [folder / f"{name}{ending}" for name in ("train", "dev")]
    writer(files[0], 45)
    writer(files[1], 24, seed=1)
    usual = f"--task {task} --epochs 4 --batch-size 8 --max-seq-length 40 --seed 3"
    exact = "--learning-rate 2e-3 --dtype float32 --device cpu"
    paths = ["--train", files[0], "--dev", files[1], "--out", folder / "out"]
    paths += ["--checkpoint", checkpoint, *recipe(evaluate_every=5)]
    words = [*usual.split(), *exact.split(), *paths, *more]
    return finetune(num_processes, *words)


def make_still(folder: Path, **more: Any) -> Experiment:
    """Return an experiment without dropout, three epochs of 6 steps, in folder/out."""
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    folder.mkdir()
    checkpoint = tiny_bert(tiny_config(**still)).save(folder / "tiny")
    exact = {"dtype": "float32", "evaluate_every": 5, "num_train": 45, "epochs": 3}
    return make_experiment(folder, checkpoint, **exact, **more)


def killed(folder: Path, num_processes: int, script: Path, **more: Any) -> Path:
    """Start that experiment in so many processes, which a signal ends at step 10."""
    out = make_still(folder, **more).folder
    script.write_text(KILL_AT_STEP)
    assert launch(num_processes, script, out).returncode != 0
    (run,) = (out / "runs").iterdir()
    state = load_state(run)
    assert state["position"]["step"] == 6  # the end of the first epoch; step 10 was lost
    assert not (run / "result.json").exists()
    return out


def losses(report: dict[str, Any]) -> list[float]:
    return [line.get("loss", line.get("dev_loss")) for line in report["history"]]


TOGETHER: list[tuple[str, list[str]]] = [
    ("classify", [*recipe(class_weights=(1, 2.5))]),
    ("tag", [*recipe(frozen=True)]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("task", "more"), all_but(TOGETHER[:1], TOGETHER))
def test_two_processes_fine_tune_as_one(task: str, more: list[str], tmp_path: Path) -> None:
    one = start(tmp_path / "one", task, 1, *more)
    two = start(tmp_path / "two", task, 2, *more)
    assert one["best"]["num_steps"] == two["best"]["num_steps"] == 24
    assert len(losses(one)) >= 8
    assert losses(two) == pytest.approx(losses(one), abs=1e-4)
    assert two["best"]["scores"]["metrics"] == pytest.approx(
        one["best"]["scores"]["metrics"], abs=1e-4
    )
    assert_close_weights(tmp_path / "two" / "out", tmp_path / "one" / "out")


def assert_close_weights(checkpoint: Path, expected: Path) -> None:
    ours, theirs = (load_file(f / "model.safetensors") for f in (checkpoint, expected))
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        # Attention does not notice key biases, so their gradients are rounding errors, which
        # AdamW makes large.
        if not name.endswith("key.bias"):
            torch.testing.assert_close(ours[name], tensor, rtol=0, atol=1e-3)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends SIGKILL")
@pytest.mark.exhaustive
def test_a_killed_run_goes_on_in_one_process_or_in_two(tmp_path: Path) -> None:
    """Whoever began it: two end what two began, one what two began, two what one began."""
    whole = make_still(tmp_path / "whole", keep_epochs=True).run()
    assert whole["best"]["num_steps"] == 18
    by_two = killed(tmp_path / "by-two", 2, tmp_path / "kill.py", keep_epochs=True)
    shutil.copytree(by_two, tmp_path / "copy" / "out")
    by_one = killed(tmp_path / "by-one", 1, tmp_path / "kill.py", keep_epochs=True)
    for out, num_processes in ((by_two, 2), (tmp_path / "copy" / "out", 1), (by_one, 2)):
        if num_processes == 1:
            report = resume_experiment(out).run()
            assert report is not None
        else:
            report = finetune(num_processes, "--out", out, "--resume")
        assert report["best"]["num_steps"] == 18
        assert [line["step"] for line in report["history"]] == [
            line["step"] for line in whole["history"]
        ]
        assert losses(report) == pytest.approx(losses(whole), abs=1e-4)
        assert len(report["best"]["kept_epochs"]) == 3
        for name in ("runs/lr-0.002-seed-1/checkpoints/epoch-3", "."):
            assert_close_weights(out / name, tmp_path / "whole" / "out" / name)


@pytest.mark.parametrize("kind", ["sequence", "weighted", "multilabel", "regress", "token", "span"])
def test_the_losses_of_parts_sum_to_that_of_the_batch(kind: str) -> None:
    rng = np.random.default_rng(0)
    weights = torch.tensor([1.0, 2.0, 0.5]) if kind == "weighted" else None
    if kind == "span":
        targets, logits = rng.integers(0, 9, (7, 2)), torch.randn(7, 9, 2)
    elif kind == "multilabel":
        targets, logits = rng.integers(0, 2, (7, 3)).astype(np.float32), torch.randn(7, 3)
    elif kind == "regress":
        targets, logits = rng.normal(size=7).astype(np.float32), torch.randn(7, 1)
    elif kind == "token":
        targets, logits = rng.integers(0, 3, (7, 9)), torch.randn(7, 9, 3)
        targets[rng.random((7, 9)) < 0.5] = IGNORED
    else:
        targets, logits = rng.integers(0, 3, 7), torch.randn(7, 3)
    names = {"span": "qa", "token": "tag", **{n: n for n in ("regress", "multilabel")}}
    task = find_task(names.get(kind, "classify"))
    values = torch.from_numpy(targets)
    whole = task.loss(logits, values, weights)
    flat = targets.ravel() if kind == "token" else targets
    total = task.loss_weight(flat, weights)
    parts = [
        task.loss(logits[part], values[part], weights, total=total)
        for part in (slice(0, 3), slice(3, 7))
    ]
    torch.testing.assert_close(parts[0] + parts[1], whole)
