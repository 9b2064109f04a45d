"""Fine-tuning with a penalty: parts of a batch sum, it works, resumes bit by bit, is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore.data.rows import Batch
from bertcore.debiasing import PenalisedDirection
from bertcore.finetuning import make_settings, resume_experiment, start_experiment
from bertcore.finetuning.experiment import Experiment, open_models
from bertcore.finetuning.run_checks import penalty_of
from bertcore.finetuning.task_step import TaskWithLoss, Totals
from bertcore.network.attention import attention_fused
from bertcore.tasks import open_task_model
from tests.support.finetuning_files import WRITERS
from tests.support.tiny import tiny_bert

PAIRS = (("she", "he"), ("woman", "man"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


def experiment_in(
    folder: Path, tiny: Path, task: str, weight: float | None, **more: Any
) -> Experiment:
    folder.mkdir(exist_ok=True)
    writer, ending = WRITERS[task]
    writer(folder / f"train{ending}", 40)
    writer(folder / f"dev{ending}", 16, seed=1)
    settings = make_settings(
        task=task,
        train=folder / f"train{ending}",
        dev=folder / f"dev{ending}",
        checkpoint=str(tiny),
        direction=None if weight is None else PenalisedDirection("mine", weight, PAIRS),
        **{
            "epochs": 2,
            "batch_size": 8,
            "max_seq_length": 32,
            "device": "cpu",
            "learning_rates": (2e-3,),
            "dtype": "float32",
            **more,
        },
    )
    return start_experiment(folder / "out", settings)


@pytest.mark.parametrize("task", ["classify", "tag", "choice"])
def test_parts_of_a_batch_sum(task: str, tiny: Path, tmp_path: Path) -> None:
    experiment = experiment_in(tmp_path, tiny, task, 3.0)
    model, _ = open_models(experiment.settings, experiment.labels, seed=0)
    direction = experiment.settings.direction
    assert direction is not None
    penalty = penalty_of(model, direction)
    rows = experiment.train.rows
    model.module.eval()
    with_penalty, without = (
        TaskWithLoss(model.module, model.task, attention=attention_fused, penalty=each)
        for each in (penalty, None)
    )
    batch = rows.batch(range(6))
    whole = with_penalty(batch, None, None).detach()
    assert float(whole) > float(without(batch, None, None).detach()) + 1e-3
    targets = rows.targets_of(range(6))
    num = model.task.loss_weight(targets)
    tokens = float(rows.starts[6 * rows.group] - rows.starts[0])
    totals = Totals(num, num, tokens, 6.0 * rows.group)
    parts = [with_penalty(_part(batch, part), None, totals) for part in (slice(0, 2), slice(2, 6))]
    torch.testing.assert_close((parts[0] + parts[1]).detach(), whole)


def _part(batch: Batch, part: slice) -> Batch:
    return Batch(*(None if x is None else x[part] for x in batch))  # type: ignore[arg-type]


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_states_leave_the_direction_of_the_start(task: str, tiny: Path, tmp_path: Path) -> None:
    means = []
    for weight in (None, 20.0):
        experiment = experiment_in(tmp_path / str(weight), tiny, task, weight)
        assert experiment.run() is not None
        start, _ = open_models(experiment.settings, experiment.labels, seed=0)
        penalty = penalty_of(start, PenalisedDirection("mine", 1.0, PAIRS))
        module = open_task_model(tmp_path / str(weight) / "out", device="cpu").module
        batch = experiment.dev.rows.batch(range(16))
        with torch.no_grad():
            hidden = module.encode(batch.input_ids, batch.segment_ids, batch.attention_mask)
            means.append(float(penalty.total(hidden, batch.input_ids, batch.attention_mask)))
    assert means[1] < means[0] / 2


def test_a_stop_changes_no_bit(tiny: Path, tmp_path: Path) -> None:
    assert experiment_in(tmp_path / "whole", tiny, "classify", 2.0).run() is not None
    parts = experiment_in(tmp_path / "parts", tiny, "classify", 2.0)
    seen: list[int] = []

    def stop() -> bool:
        seen.append(1)
        return len(seen) >= 3

    assert parts.run(should_stop=stop) is None
    resumed = resume_experiment(tmp_path / "parts" / "out")
    assert resumed.settings == parts.settings
    assert resumed.run() is not None
    recorded = json.loads((tmp_path / "parts" / "out" / "finetune.json").read_text())["direction"]
    assert recorded == {"name": "mine", "weight": 2.0, "pairs": [["she", "he"], ["woman", "man"]]}
    a, b = (load_file(tmp_path / name / "out" / "model.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(a[key], b[key]) for key in a)


def test_what_is_not_trained_is_not_penalised(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="changes the encoder"):
        experiment_in(tmp_path, tiny, "classify", 1.0, frozen=True)
    with pytest.raises(ValueError, match="teacher"):
        experiment_in(tmp_path, tiny, "classify", 1.0, teacher=str(tiny))
    assert not (tmp_path / "out").exists()
