"""Several processes fine-tune what one would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from bertcore.finetuning.loss import loss_weight, task_loss
from bertcore.finetuning.rows import IGNORED
from bertcore.finetuning.run_checks import check_launcher
from bertcore.pretraining.processes import Processes
from tests.bertcore.finetuning_files import WRITERS
from tests.bertcore.tiny import tiny_bert, tiny_config
from tests.bertcore.together import run_together


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
    usual = f"--task {task} --epochs 4 --batch-size 8 --lr 2e-3 --max-seq-length 40 --seed 3"
    exact = "--dtype float32 --device cpu --evaluate-every 5"
    paths = ["--train", files[0], "--dev", files[1], "--out", folder / "out"]
    words = [*usual.split(), *exact.split(), *paths, "--checkpoint", checkpoint, *more]
    return finetune(num_processes, *words)


def losses(report: dict[str, Any]) -> list[float]:
    return [line.get("loss", line.get("dev_loss")) for line in report["history"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "more"),
    [("classify", ["--class-weights", "1,2.5"]), ("tag", ["--frozen"])],
)
def test_two_processes_fine_tune_as_one(task: str, more: list[str], tmp_path: Path) -> None:
    one = start(tmp_path / "one", task, 1, *more)
    two = start(tmp_path / "two", task, 2, *more)
    assert one["best"]["num_steps"] == two["best"]["num_steps"] == 24
    assert len(losses(one)) >= 8
    assert losses(two) == pytest.approx(losses(one), abs=1e-4)
    assert two["best"]["scores"]["metrics"] == pytest.approx(
        one["best"]["scores"]["metrics"], abs=1e-4
    )
    ours, theirs = (
        load_file(tmp_path / name / "out" / "model.safetensors") for name in ("two", "one")
    )
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        # Attention does not notice key biases, so their gradients are rounding errors, which
        # AdamW makes large.
        if not name.endswith("key.bias"):
            torch.testing.assert_close(ours[name], tensor, rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", ["sequence", "weighted", "regress", "token", "span"])
def test_the_losses_of_parts_sum_to_that_of_the_batch(kind: str) -> None:
    rng = np.random.default_rng(0)
    weights = torch.tensor([1.0, 2.0, 0.5]) if kind == "weighted" else None
    if kind == "span":
        targets, logits = rng.integers(0, 9, (7, 2)), torch.randn(7, 9, 2)
    elif kind == "regress":
        targets, logits = rng.normal(size=7).astype(np.float32), torch.randn(7, 1)
    elif kind == "token":
        targets, logits = rng.integers(0, 3, (7, 9)), torch.randn(7, 9, 3)
        targets[rng.random((7, 9)) < 0.5] = IGNORED
    else:
        targets, logits = rng.integers(0, 3, 7), torch.randn(7, 3)
    of_kind = kind if kind in ("span", "token") else "sequence"
    values = torch.from_numpy(targets)
    whole = task_loss(logits, values, of_kind, weights)
    flat = targets.ravel() if kind == "token" else targets
    total = loss_weight(flat, weights)
    parts = [
        task_loss(logits[part], values[part], of_kind, weights, total=total)
        for part in (slice(0, 3), slice(3, 7))
    ]
    torch.testing.assert_close(parts[0] + parts[1], whole)


def test_sharding_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("FSDP_VERSION", "2")
    with pytest.raises(ValueError, match=r"asks for sharding \(FSDP\).*without --use_fsdp"):
        check_launcher(Processes("cpu"))
