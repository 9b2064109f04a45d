"""The series by number of labels: random weights, the same examples, stops, and bad input."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore import load
from bertcore.configs import numbers, optimizer
from bertcore.finetuning import Settings, make_settings, start_experiment
from bertcore.finetuning import label_curve as module
from bertcore.finetuning.label_curve import (
    CURVE_FILE,
    STARTS,
    LabelCurve,
    read_label_curve,
    run_label_curve,
)
from bertcore.loading.untrained import untrained
from bertcore.tasks import start_task_model
from tests.support.command_line import refusal, succeed
from tests.support.finetuning_files import write_reviews
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_reviews(folder / "train.tsv", 40)
    write_reviews(folder / "dev.tsv", 16, seed=1)
    tiny_bert().save(folder / "tiny")
    return folder


def settings(files: Path, **more: Any) -> Settings:
    options: dict[str, Any] = {"seeds": (1, 2), "epochs": 1, "batch_size": 8, "device": "cpu"}
    options |= {"train": files / "train.tsv", "dev": files / "dev.tsv"}
    return make_settings(
        task="classify",
        checkpoint=str(files / "tiny"),
        new_head=True,
        max_seq_length=32,
        **{**options, **more},
    )


def test_random_weights_are_those_of_the_untrained_twin(files: Path) -> None:
    model = start_task_model(
        files / "tiny",
        task="classify",
        labels=("bad", "good"),
        generator=torch.Generator().manual_seed(3),
        is_untrained=True,
    )
    twin = untrained(load(files / "tiny", device="cpu"), 3).module
    network = model.require_parts("the test").network
    found = network.state_dict()
    expected = twin.state_dict()
    assert "layers.0.attention.query.weight" in found
    assert all(torch.equal(value, expected[name]) for name, value in found.items())
    pretrained = load(files / "tiny", device="cpu").module
    assert not torch.equal(network.token_table, pretrained.token_table)


def test_each_point_is_that_fine_tuning(files: Path, tmp_path: Path) -> None:
    curve = run_label_curve(tmp_path / "c", settings(files), num_labels=(16, 8), least_steps=3)
    assert [point[:3] for point in curve.points] == [
        (start, number, seed) for number in (8, 16) for seed in (1, 2) for start in STARTS
    ]
    assert curve.num_planned == len(curve.points) == 12
    assert curve.num_dev == 16
    # One batch of 8 is a step, so 8 labels take three epochs and 16 two.
    assert {(p.num_labels, p.epochs, p.num_steps) for p in curve.points} == {(8, 3, 3), (16, 2, 4)}
    own = settings(files, seeds=(2,), epochs=2, sample=16, is_untrained=True)
    report = start_experiment(tmp_path / "one", own).run()
    assert report is not None
    last = [line for line in report["history"] if "dev_loss" in line][-1]
    (point,) = [p for p in curve.points if p[:3] == ("untrained", 16, 2)]
    assert point.value == last["dev_accuracy"]
    frozen = settings(files, seeds=(2,), epochs=2, sample=16, frozen=True)
    report = start_experiment(tmp_path / "head", frozen).run()
    assert report is not None
    (point,) = [p for p in curve.points if p[:3] == ("frozen", 16, 2)]
    assert point.value == report["history"][-1]["dev_accuracy"]
    assert curve.median("untrained", 16) == pytest.approx(
        sum(curve.values("untrained", 16)) / 2  # of two
    )
    assert read_label_curve(tmp_path / "c") == curve
    assert {path.name for path in (tmp_path / "c").iterdir()} == {CURVE_FILE, "run.lock"}


def test_a_part_of_the_table_is_scored(files: Path, tmp_path: Path) -> None:
    """It is drawn once, and nothing of it is learned from; a stopped series goes on with it."""
    shutil.copy(files / "train.tsv", tmp_path)
    own = settings(files, train=tmp_path / "train.tsv", dev=None, held_out=0.25)
    first = run_label_curve(
        tmp_path / "c", own, num_labels=(8,), least_steps=1, should_stop=lambda: True
    )
    (tmp_path / "train.tsv").unlink()
    curve = run_label_curve(tmp_path / "c", None)
    assert len(first.points) < len(curve.points) == curve.num_planned
    assert curve.num_dev == 10
    parts = {
        name: {row["text"] for row in map(json.loads, path.read_text().splitlines())}
        for name, path in (
            (name, next((tmp_path / "c" / "data").glob(f"{name}*"))) for name in ("train", "dev")
        )
    }
    assert len(parts["train"]) == 30
    assert not parts["train"] & parts["dev"]
    own = settings(files, dev=None, held_out=0.25)
    with pytest.raises(ValueError, match="has 30 examples to learn from"):
        run_label_curve(tmp_path / "d", own, num_labels=(31,), least_steps=1)
    assert not (tmp_path / "d").exists()


def test_an_older_series_has_two_starts(files: Path, tmp_path: Path) -> None:
    curve = run_label_curve(tmp_path, settings(files, seeds=(1,)), num_labels=(8,), least_steps=1)
    values = json.loads((tmp_path / CURVE_FILE).read_text())
    del values["starts"]
    values["points"] = [point for point in values["points"] if point["start"] != "frozen"]
    (tmp_path / CURVE_FILE).write_text(json.dumps(values))
    older = read_label_curve(tmp_path)
    assert older.num_planned == len(older.points) == 2
    assert run_label_curve(tmp_path, None) == older
    assert len(curve.points) == 3


def test_a_stopped_series_goes_on_to_the_same_numbers(files: Path, tmp_path: Path) -> None:
    """The training data are read once, at the start: afterwards the file may be gone."""
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
    second = run_label_curve(tmp_path / "s", None)
    assert second.points == whole.points
    assert run_label_curve(tmp_path / "s", None) == second  # nothing is left to do


@pytest.mark.parametrize(
    ("numbers", "more", "sentence"),
    [
        ((), {}, "numbers of labels are none"),
        ((1, 8), {}, "at least 2"),
        ((8, 8), {}, "different ones"),
        ((8, 4000), {}, "4,000"),
        ((8,), {"learning_rates": (1e-3, 1e-4)}, "one learning rate"),
    ],
)
def test_what_cannot_be_a_series_is_a_sentence(
    files: Path, tmp_path: Path, numbers: tuple[int, ...], more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        run_label_curve(tmp_path / "c", settings(files, **more), num_labels=numbers, least_steps=1)


@pytest.fixture
def any_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rates pass that diverge at once."""
    monkeypatch.setattr(optimizer, "MAX_RATE", math.inf)
    monkeypatch.setattr(numbers, "MAX_FLOAT", math.inf)


@pytest.mark.usefixtures("any_rate")
def test_a_series_that_diverges_is_told(files: Path, tmp_path: Path) -> None:
    own = settings(files, learning_rates=(1e10,))
    with pytest.raises(RuntimeError, match="Lower the learning rate"):
        run_label_curve(tmp_path / "c", own, num_labels=(16,), least_steps=4)
    assert read_label_curve(tmp_path / "c").points == ()


def test_a_damaged_file_is_told(files: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no series"):
        read_label_curve(tmp_path)
    for text in ("", "[]", "{}", '{"points": [{"start": 1}], "settings": {}}'):
        (tmp_path / CURVE_FILE).write_text(text)
        with pytest.raises(RuntimeError, match="damaged"):
            read_label_curve(tmp_path)


def test_the_command_prints_the_series(files: Path, tmp_path: Path) -> None:
    data: list[str | Path] = [
        "--train",
        files / "train.tsv",
        "--dev",
        files / "dev.tsv",
        "--device",
        "cpu",
    ]
    line: list[str | Path] = [
        "label-curve",
        *data,
        "--checkpoint",
        files / "tiny",
        "--labels",
        "8",
        "--seeds",
        "1",
    ]
    found = json.loads(succeed(*line, "--steps", "3", "--out", tmp_path / "c", "--json"))
    curve: LabelCurve = module.read_label_curve(tmp_path / "c")
    assert found["points"] == [point._asdict() for point in curve.points]
    table = succeed("label-curve", "--out", tmp_path / "c", "--resume")
    assert f"{curve.median('pretrained', 8):.3f}" in table
    assert "--labels" in refusal(*line[:-4], "--labels", "few", "--out", tmp_path / "d")
    assert "--train" in refusal("label-curve", "--out", tmp_path / "d")
    assert "either --dev" in refusal(*line, "--held-out", "0.1", "--out", tmp_path / "d")
    assert "--seeds" in refusal("label-curve", "--out", tmp_path / "c", "--resume", "--seeds", "2")
    assert "not empty" in refusal(*line, "--out", tmp_path / "c")


def test_pickled_weights_are_read_when_that_is_allowed(files: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(files / "tiny", folder)
    weights = folder / "model.safetensors"
    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    line = ["label-curve", "--train", files / "train.tsv", "--dev", files / "dev.tsv"]
    line += ["--checkpoint", folder, "--labels", "8", "--seeds", "1", "--steps", "1"]
    line += ["--device", "cpu", "--out", tmp_path / "c"]
    assert "--allow-pickle" in refusal(*line)
    assert "pretrained" in succeed(*line, "--allow-pickle")
