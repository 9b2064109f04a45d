"""The series by number of labels: random weights, the same examples, stops, and bad input."""

import json
import math
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bertcore.training.finetuning import Experiment, Settings, read_label_curve, start_experiment
from bertcore.training.finetuning import label_curve as module
from bertcore.training.finetuning.label_curve import (
    CURVE_FILE,
    FROZEN_RATE,
    STARTS,
    LabelCurve,
    LabelPoint,
    run_label_curve,
)
from tests.support.cases import cases
from tests.support.command_line import recipe, refusal, succeed
from tests.support.finetuning_files import quick_settings
from tests.support.kit import edit


def settings(files: Path, **more: Any) -> Settings:
    usual = {"train": files / "train.tsv", "dev": files / "dev.tsv", "seeds": (1, 2)}
    return quick_settings(files / "tiny", **{**usual, "new_head": True, **more})


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings of each fine-tuning that a series begins, of its two trials too."""
    found: list[Settings] = []

    def start(folder: Path, own: Settings, **more: Any) -> Experiment:
        found.append(own)
        return start_experiment(folder, own, **more)

    monkeypatch.setattr(module, "start_experiment", start)
    return found


def test_each_point_is_that_fine_tuning(files: Path, tmp_path: Path) -> None:
    curve = run_label_curve(tmp_path / "c", settings(files), num_labels=(16, 8), least_steps=3)
    assert [point.key for point in curve.points] == [
        (start, number, seed) for number in (8, 16) for seed in (1, 2) for start in STARTS
    ]
    assert curve.num_planned == len(curve.points) == 12
    assert curve.num_dev == 16
    # One batch of 8 is a step, so 8 labels take three epochs and 16 two.
    assert {(p.num_labels, p.epochs, p.num_steps) for p in curve.points} == {(8, 3, 3), (16, 2, 4)}
    own = settings(files, seeds=(2,), epochs=2, sample=16, is_untrained=True)
    report = start_experiment(tmp_path / "one", own).run()
    last = [line for line in report["history"] if "dev_loss" in line][-1]
    (point,) = [p for p in curve.points if p.key == ("untrained", 16, 2)]
    assert point.value == last["dev_accuracy"]
    frozen = settings(
        files, seeds=(2,), epochs=2, sample=16, frozen=True, learning_rates=(FROZEN_RATE,)
    )
    report = start_experiment(tmp_path / "head", frozen).run()
    (point,) = [p for p in curve.points if p.key == ("frozen", 16, 2)]
    assert point.value == report["history"][-1]["dev_accuracy"]
    assert curve.median("untrained", 16) == pytest.approx(
        sum(curve.values("untrained", 16)) / 2  # of two
    )
    assert read_label_curve(tmp_path / "c") == curve
    assert {path.name for path in (tmp_path / "c").iterdir()} == {CURVE_FILE, "run.lock"}


def test_a_part_of_the_table_is_scored(files: Path, tmp_path: Path, begun: list[Settings]) -> None:
    """It is drawn once, and nothing of it is learned from; a series goes on where it was moved."""
    shutil.copy(files / "train.tsv", tmp_path)
    own = settings(files, train=tmp_path / "train.tsv", dev=None, held_out=0.25, seeds=(1,))
    first = run_label_curve(
        tmp_path / "c", own, num_labels=(8,), least_steps=3, should_stop=lambda: True
    )
    (tmp_path / "train.tsv").unlink()
    assert first.points == ()
    assert (first.held_out, first.dev) == (0.25, "")
    stored = json.loads((tmp_path / "c" / CURVE_FILE).read_text())["settings"]
    assert (stored["train"], stored["dev"]) == ("data/train.jsonl", "data/dev.jsonl")
    parts = {
        name: {row["text"] for row in map(json.loads, path.read_text().splitlines())}
        for name, path in ((n, tmp_path / "c" / "data" / f"{n}.jsonl") for n in ("train", "dev"))
    }
    assert len(parts["train"]) == 30
    assert not parts["train"] & parts["dev"]
    shutil.copytree(tmp_path / "c", tmp_path / "older")
    (tmp_path / "c").rename(tmp_path / "moved")
    del begun[:]
    curve = run_label_curve(tmp_path / "moved", None)
    assert [one.learning_rates for one in begun] == [(1e-4,), (FROZEN_RATE,), (1e-4,)]
    assert len(curve.points) == curve.num_planned
    assert curve.num_dev == 10
    left = {path.name for path in (tmp_path / "moved").iterdir()}
    assert left == {CURVE_FILE, "run.lock"}  # no text of the table
    data = {part: str(tmp_path / "c" / "data" / f"{part}.jsonl") for part in ("train", "dev")}
    of_older = json.loads((tmp_path / "older" / CURVE_FILE).read_text())["settings"] | data
    notes = ["A note on the table."]
    gone: dict[str, Any] = {"held_out": None, "frozen_rate": None}
    edit(tmp_path / "older", CURVE_FILE, settings=of_older, notes=notes, **gone)
    shutil.rmtree(tmp_path / "older" / "samples")
    del begun[:]
    older = run_label_curve(tmp_path / "older", None)
    assert {one.learning_rates for one in begun} == {(1e-4,)}
    assert older.notes[0] == notes[0]
    assert older.median("pretrained", 8) == curve.median("pretrained", 8)
    own = settings(files, dev=None, held_out=0.25)
    with pytest.raises(ValueError, match="has 30 examples to learn from"):
        run_label_curve(tmp_path / "d", own, num_labels=(31,), least_steps=1)
    assert not (tmp_path / "d").exists()


def test_an_older_series_has_two_starts(files: Path, tmp_path: Path) -> None:
    curve = run_label_curve(tmp_path, settings(files, seeds=(1,)), num_labels=(8,), least_steps=1)
    points = json.loads((tmp_path / CURVE_FILE).read_text())["points"]
    points = [point for point in points if point["start"] != "frozen"]
    edit(tmp_path, CURVE_FILE, starts=None, points=points)
    older = read_label_curve(tmp_path)
    assert older.num_planned == len(older.points) == 2
    assert run_label_curve(tmp_path, None) == older
    assert len(curve.points) == 3


def test_a_stopped_series_goes_on_to_the_same_numbers(
    files: Path, tmp_path: Path, begun: list[Settings]
) -> None:
    """The training data are read once, at the start: afterwards the file may be gone.

    A fine-tuning that an older version began, with scores of each epoch, goes on as well.
    """
    own = settings(files, train=tmp_path / "train.tsv")
    shutil.copy(files / "train.tsv", tmp_path)
    whole = run_label_curve(tmp_path / "w", own, num_labels=(8,), least_steps=3)
    asked = 0

    def after_some() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5

    first = run_label_curve(
        tmp_path / "s", own, num_labels=(8,), least_steps=3, should_stop=after_some
    )
    (tmp_path / "train.tsv").unlink()
    assert 0 < len(first.points) < first.num_planned
    config = json.loads((tmp_path / "s" / "run" / "finetune.json").read_text())["config"]
    edit(tmp_path / "s" / "run", "finetune.json", config=config | {"score_epochs": True})
    del begun[:]
    second = run_label_curve(tmp_path / "s", None)
    assert second.points == whole.points
    assert len(begun) == second.num_planned - len(first.points) - 1
    assert run_label_curve(tmp_path / "s", None) == second  # nothing is left to do


@pytest.mark.parametrize(("numbers", "more", "sentence"), cases("impossible_series"))
def test_what_cannot_be_a_series_is_a_sentence(
    files: Path, tmp_path: Path, numbers: tuple[int, ...], more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        run_label_curve(tmp_path / "c", settings(files, **more), num_labels=numbers, least_steps=1)


POINT = ("pretrained", 8, 1, 3, 3, 0.5)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_dev": None}, "num_dev is null"),
        ({"starts": ["pretrained", "else"]}, "starts has another than"),
        ({"seeds": [2]}, "not of the series"),
        ({"points": [POINT, POINT]}, "twice"),
        ({"points": [(*POINT[:4], 10**30, 0.5)]}, "num_steps is"),
        ({"points": [(*POINT[:5], math.nan)]}, "points 1, value is nan"),
    ],
)
def test_values_of_another_type_are_damage(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    texts = dict.fromkeys(("checkpoint", "task", "train", "dev", "metric"), "x")
    values = {**texts, "num_labels": [8], "seeds": [1], "least_steps": 1, "num_dev": 16}
    values = {**values, "points": [POINT], **change, "settings": {}}
    values["points"] = [asdict(LabelPoint(*point)) for point in values["points"]]
    (tmp_path / CURVE_FILE).write_text(json.dumps(values))
    with pytest.raises(RuntimeError, match=rf"is damaged \(.*{sentence}"):
        read_label_curve(tmp_path)


def test_the_command_prints_the_series(files: Path, tmp_path: Path) -> None:
    words = f"--train {files}/train.tsv --dev {files}/dev.tsv --checkpoint {files}/tiny".split()
    line = ["finetune", *words, *"--device cpu --seeds 1 --label-curve 8".split()]
    few = recipe(least_steps=3)
    found = json.loads(succeed(*line, *few, "--out", tmp_path / "c", "--json"))
    curve: LabelCurve = module.read_label_curve(tmp_path / "c")
    assert found["points"] == [asdict(point) for point in curve.points]
    table = succeed("finetune", "--out", tmp_path / "c", "--resume")
    assert f"{curve.median('pretrained', 8):.3f}" in table
    assert "--label-curve is 'few'" in refusal(*line[:-1], "few", "--out", tmp_path / "d")
    assert "--train" in refusal("finetune", "--out", tmp_path / "d")
    assert "either --dev" in refusal(*line, "--held-out", "0.1", "--out", tmp_path / "d")
    assert "--seeds" in refusal("finetune", "--out", tmp_path / "c", "--resume", "--seeds", "2")
    assert "not empty" in refusal(*line, "--out", tmp_path / "c")
