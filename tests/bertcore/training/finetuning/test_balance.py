"""Balanced fine-tuning: weights of rows, the weighted loss, its parts, resuming, refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from bertcore.model.network.attention import attention_fused
from bertcore.training.finetuning import Experiment, resume_experiment, start_experiment
from bertcore.training.finetuning.data.swap_words import Swapping
from bertcore.training.finetuning.experiment import open_models
from bertcore.training.finetuning.task_step import TaskWithLoss, Totals
from bertcore.training.tasks.model import open_task_model
from bertcore.training.tasks.rows import Batch
from tests.support.finetuning_files import quick_settings

LINES = [("good film", "yes", "f")] * 2 + [("bad film", "no", "f")] * 6
LINES += [("the man ran", "yes", "m")] * 7 + [("the man sat", "no", "m")] * 1


def write(path: Path, lines: list[tuple[str, str, str]] = LINES) -> Path:
    rows = ["sentence\tlabel\tgender", *("\t".join(line) for line in lines)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def experiment_in(folder: Path, tiny: Path, train: Path, **more: Any) -> Experiment:
    dev = None if "held_out" in more else train
    usual = {"balance": "gender", "epochs": 2, "batch_size": 4, "dtype": "float32"}
    settings = quick_settings(tiny, train, dev, **{**usual, **more})
    return start_experiment(folder / "out", settings)


def test_the_loss_is_weighted_and_parts_sum(tiny: Path, tmp_path: Path) -> None:
    experiment = experiment_in(tmp_path, tiny, write(tmp_path / "train.tsv"))
    model, _ = open_models(experiment.settings, experiment.labels, seed=0)
    model.module.eval()
    with_loss = TaskWithLoss(model.module, model.task, attention=attention_fused)
    batch = experiment.train.rows.batch([0, 3, 9, 15])
    assert batch.weights is not None
    logits = with_loss.logits(batch, None)
    losses = F.cross_entropy(logits, batch.targets, reduction="none")
    whole = with_loss(batch, None, None)
    torch.testing.assert_close(whole, (losses * batch.weights).mean())
    alike = with_loss(batch._replace(weights=torch.ones(4)), None, None)
    torch.testing.assert_close(alike, with_loss(batch._replace(weights=None), None, None))
    totals = Totals(4.0, 4.0, 0.0, 4.0)
    parts = [
        with_loss(Batch(*(None if x is None else x[part] for x in batch)), None, totals)  # type: ignore[arg-type]
        for part in (slice(0, 1), slice(1, 4))
    ]
    torch.testing.assert_close(parts[0] + parts[1], whole)


def test_the_column_goes_with_the_examples_that_are_kept(tiny: Path, tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", LINES * 5)
    experiment = experiment_in(tmp_path, tiny, train, held_out=0.2, sample=60)
    rows = experiment.train.rows
    assert rows.weights is not None
    assert len(rows.weights) == len(rows) == experiment.train.num_examples < 60
    kept = [json.loads(line) for line in (tmp_path / "out/data/train.jsonl").open()]
    counts: dict[tuple[str, str], int] = {}
    for line in kept:
        cell = line["group"], line["label"]
        counts[cell] = counts.get(cell, 0) + 1
    of_group = {g: sum(n for (h, _), n in counts.items() if h == g) for g in "fm"}
    of_label = {y: sum(n for (_, z), n in counts.items() if z == y) for y in ("yes", "no")}
    expected = [
        of_group[line["group"]]
        * of_label[line["label"]]
        / (len(kept) * counts[line["group"], line["label"]])
        for line in kept
    ]
    np.testing.assert_allclose(rows.weights, expected, rtol=1e-6)
    resumed = resume_experiment(tmp_path / "out")
    np.testing.assert_array_equal(resumed.train.rows.weights, rows.weights)


def test_rows_without_a_group(tiny: Path, tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [*LINES, ("the cat", "yes", "")])
    with pytest.raises(ValueError, match="row 17 of the training data has nothing"):
        experiment_in(tmp_path, tiny, train)
    assert not (tmp_path / "out").exists()
    experiment = experiment_in(tmp_path, tiny, train, skip_bad_rows=True)
    assert experiment.train.num_examples == 16
    assert "1 rows with nothing" in experiment.notes[-1]


def test_weights_by_an_examples_own_bias(tiny: Path, tmp_path: Path) -> None:
    """The debiased focal loss: (1 - p) ** 2 of a biased model's p of the label."""
    train = write(tmp_path / "train.tsv")
    biased = tmp_path / "biased"
    assert experiment_in(biased, tiny, train, balance=None, epochs=8).run() is not None
    more = {"balance": None, "bias_model": str(biased / "out")}
    experiment = experiment_in(tmp_path, tiny, train, **more)
    rows = experiment.train.rows
    model = open_task_model(biased / "out", device="cpu")
    whole = rows.batch(list(range(len(rows))))
    with torch.no_grad():
        logits = model.module(whole.input_ids, whole.segment_ids, whole.attention_mask)
    p = logits.softmax(-1)[torch.arange(len(rows)), whole.targets]
    np.testing.assert_allclose(rows.weights, (1 - p.numpy()) ** 2, atol=1e-5)
    assert experiment.dev.rows.weights is None
    assert "Weights by the bias of" in experiment.notes[-1]
    report = experiment.run()
    assert report is not None
    assert "| Weighed by the bias of |" in (tmp_path / "out" / "report.md").read_text()
    other = write(tmp_path / "other.tsv", [(a, {"yes": "up"}.get(b, b), c) for a, b, c in LINES])
    for wrong, message in (
        ({"train": other}, "has the labels no, yes, but the training data no, up"),
        ({"bias_model": str(tiny)}, "no task head"),
        ({"balance": "gender"}, "both weigh the examples"),
        ({"class_weights": "balanced"}, "bias_model and class weights"),
        ({"task": "regress"}, "bias_model weighs examples by their single label"),
    ):
        with pytest.raises(ValueError, match=message):
            experiment_in(tmp_path / "no", tiny, **{"train": train, **more, **wrong})
    assert not (tmp_path / "no").exists()


def test_refusals(tiny: Path, tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv")
    for more, message in (
        ({"balance": "size"}, "no column 'size' for balance"),
        ({"balance": "label"}, "only one label"),
        ({"balance": "sentence"}, "only one label"),
        ({"class_weights": "balanced"}, "class weights"),
        ({"swap": Swapping.of("gender")}, "another group"),
        ({"teacher": str(tiny)}, "teacher"),
        ({"task": "multilabel"}, "classify and pair"),
    ):
        with pytest.raises(ValueError, match=message):
            experiment_in(tmp_path, tiny, train, **more)
    one = write(tmp_path / "one.tsv", [(text, label, "f") for text, label, _ in LINES])
    with pytest.raises(ValueError, match="one value, 'f'"):
        experiment_in(tmp_path, tiny, one)
    many = [(text, label, str(i)) for i, (text, label, _) in enumerate(LINES * 80)]
    with pytest.raises(ValueError, match="1,280 values"):
        experiment_in(tmp_path, tiny, write(tmp_path / "many.tsv", many))
    assert not (tmp_path / "out").exists()
