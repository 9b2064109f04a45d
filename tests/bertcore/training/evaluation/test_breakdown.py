"""Calibration and slices in what `bertscope evaluate` says and in the report of a fine-tuning."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore.analysis.attribution import run_file
from bertcore.model.network.task_heads import TaskNetwork
from bertcore.training.evaluation.breakdown import break_down, by_label
from bertcore.training.tasks import TaskModel
from tests.support.command_line import succeed
from tests.support.finetuning_files import scores_on, write_reviews, write_tags
from tests.support.rigged_models import random_model


def always_good() -> TaskModel:
    """Return a model that says "good" with 75%, whatever it reads: softmax of (0, log 3)."""
    model = random_model("classify")
    module = TaskNetwork(model.module.network, "sequence", 2).eval()
    with torch.no_grad():
        module.head.classifier.weight.zero_()
        module.head.classifier.bias.copy_(torch.tensor([0.0, math.log(3)]))
    return TaskModel(model.task, module, model.tokenizer, ("bad", "good"), "rigged")


def test_by_hand() -> None:
    """Eight answers: bins (0.2, 0.3], (0.5, 0.6], (0.8, 0.9] and the last; two lengths."""
    sure = np.array([0.55, 0.6, 0.85, 0.9, 0.9, 0.95, 1.0, 0.3])
    gold = np.array([0, 0, 1, 1, 1, 1, 2, 2])
    predicted = np.array([0, 1, 1, 0, 1, 1, 2, 0])
    lengths = np.array([4, 4, 4, 4, 9, 9, 9, 9])
    found = break_down(gold == predicted, gold, sure, lengths, ("a", "b", "c", "never"))
    assert [(b.above, b.up_to, b.number) for b in found.calibration] == [
        (0.2, 0.3, 1),
        (0.5, 0.6, 2),
        (0.8, 0.9, 3),
        (0.9, 1.0, 2),
    ]
    assert [b.confidence for b in found.calibration] == pytest.approx([0.3, 0.575, 2.65 / 3, 0.975])
    assert [b.accuracy for b in found.calibration] == pytest.approx([0, 0.5, 2 / 3, 1])
    gaps = [0.3 * 1, 0.075 * 2, (2.65 / 3 - 2 / 3) * 3, 0.025 * 2]
    assert found.expected_calibration_error == pytest.approx(sum(gaps) / 8)
    assert found.largest_calibration_error == pytest.approx(0.3)
    assert [(s.name, s.number, s.mean) for s in found.by_length] == [
        ("4 tokens", 4, 0.5),
        ("5 to 9 tokens", 4, 0.75),
    ]
    assert [(s.name, s.number, s.mean) for s in found.by_label] == [
        ("a", 2, 0.5),
        ("b", 4, 0.75),
        ("c", 2, 0.5),
    ]
    # Wilson's interval of 1 of 2, by hand: centre 0.5, half its width 0.4056.
    assert found.by_label[0].low == pytest.approx(0.5 - 0.4056, abs=1e-3)
    assert break_down(gold == predicted, gold, sure * np.nan, lengths, ("a", "b", "c")) is None


def test_evaluate_tells_it(tmp_path: Path) -> None:
    """All say "good" with 75% and half are: both errors are 25 points, whatever the length."""
    data = write_reviews(tmp_path / "dev.tsv", 40)
    always_good().save(tmp_path / "model")
    line = ["evaluate", "--task", "classify", "--checkpoint", str(tmp_path / "model")]
    line += ["--data", str(data), "--device", "cpu"]
    found = json.loads(succeed(*line, "--json"))["breakdown"]
    assert found["expected_calibration_error"] == pytest.approx(0.25, abs=1e-6)
    assert found["largest_calibration_error"] == pytest.approx(0.25, abs=1e-6)
    (one,) = found["calibration"]
    assert (one["above"], one["up_to"], one["number"], one["accuracy"]) == (0.7, 0.8, 40, 0.5)
    assert one["low"] < 0.5 < one["high"]
    assert [(s["name"], s["number"], s["mean"]) for s in found["by_label"]] == [
        ("bad", 20, 0.0),
        ("good", 20, 1.0),
    ]
    assert sum(s["number"] for s in found["by_length"]) == 40
    assert sum(s["number"] * s["mean"] for s in found["by_length"]) == pytest.approx(20)
    told = succeed(*line)
    assert "Calibration: expected error 0.2500, largest 0.2500" in told
    assert "0.7 0.8 40 0.75 0.5".split() in [text.split()[:5] for text in told.splitlines()]
    assert any(text.split()[:3] == ["good", "20", "1"] for text in told.splitlines())


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_it_is_what_the_inspect_page_shows(task: str, tmp_path: Path) -> None:
    model = random_model(task)
    if task == "classify":
        path = write_reviews(tmp_path / "a.tsv", 40)
        labels = ("bad", "good", "x")
        model = TaskModel(model.task, model.module, model.tokenizer, labels, "m")
    else:
        path = write_tags(tmp_path / "a.txt", 20)
    ours = scores_on(path, model).breakdown
    theirs = run_file(model, path, max_length=64)
    calibration = theirs.calibration()
    assert ours.expected_calibration_error == pytest.approx(calibration.expected_error, abs=1e-5)
    assert [one.number for one in ours.calibration] == [n.number for n in calibration.bins]
    assert list(ours.by_length) == theirs.slices_by_length()
    assert list(ours.by_label) == theirs.slices_by_label()


def test_answers_that_are_nan_are_told(tmp_path: Path) -> None:
    model = always_good()
    with torch.no_grad():
        model.module.head.classifier.bias.fill_(torch.nan)
    scores = scores_on(write_reviews(tmp_path / "a.tsv", 12), model, max_length=64)
    assert scores.breakdown is None
    assert scores.notes == ("12 of 12 answers are NaN, so there is no calibration.",)


def test_slices_by_label_and_of_numbers() -> None:
    quality = np.array([0.5, 1.5, 2.0], dtype=np.float32)
    found = by_label(quality, np.array([0, 0, 2]), ("a", "b", "c"))
    assert [(s.name, s.number, s.mean) for s in found] == [("a", 2, 1.0), ("c", 1, 2.0)]
    # Student's t with one degree of freedom, 12.706, times the standard error of (0.5, 1.5).
    assert found[0].high == pytest.approx(1 + 12.7062047 * 0.5)
    assert np.isnan(found[1].low)
    members = np.array([[True, False], [True, True], [False, True]])
    assert [(s.name, s.number, s.mean) for s in by_label(quality, members, ("a", "b"))] == [
        ("a", 2, 1.0),
        ("b", 2, 1.75),
    ]
