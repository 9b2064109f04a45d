"""What is said of copies, of one class alone and of ties: alike by every way."""

import json
from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import run_file
from bertcore.training.evaluation.answer_notes import Inputs, class_notes, score_notes, shared_notes
from bertcore.training.tasks import open_task_model
from tests.support import command_line
from tests.support.finetuning_files import WRITERS
from tests.support.rigged_models import random_model
from tests.support.tiny import tiny_bert

ALL = Inputs(12, 12)
WORDS = "old new good bad film house cat dog man fish milk shop".split()


def test_copies_are_counted() -> None:
    assert Inputs(5, 5).notes() == []
    assert "1 of 5 inputs is a copy" in Inputs(5, 4).notes()[0]
    assert Inputs.of([1, 2, 2, 2]) == (4, 2)
    assert shared_notes([1, 2], [3]) == []
    assert "2 of 3 inputs of the dev data" in shared_notes([1, 2], [1, 1, 4])[0]


def test_one_class_alone() -> None:
    sides = np.arange(12) % 2
    one = np.ones(12, dtype=int)
    assert class_notes(sides, sides, ("no", "yes"), ALL) == []
    [true] = class_notes(one, sides, ("no", "yes"), ALL)
    assert "All 12 true answers are 'yes'" in true
    [given] = class_notes(sides, one, ("no", "yes"), ALL)
    assert "The model answers 'yes' to all 12" in given
    assert class_notes(sides[:4], one[:4], ("no", "yes"), ALL) == []  # by chance
    assert class_notes(one, one, (), ALL) == []  # places of choices


def test_labels_that_do_not_occur() -> None:
    gold = np.zeros((12, 3), dtype=bool)
    gold[:, 0] = True
    absent, none = class_notes(gold, gold & False, ("a", "b", "c"), ALL)
    assert "2 of 3 labels occur in no text of the file ('b', 'c')" in absent
    assert "none of the 12 texts" in none


def test_ties() -> None:
    rising = np.arange(12, dtype=np.float32)
    assert score_notes(rising, rising / 3, ALL) == []
    [true] = score_notes(rising * 0 + 2, rising, ALL)
    assert "All 12 true scores are 2" in true
    [given] = score_notes(rising, rising * 0, ALL)
    assert "All 12 predicted scores are 0" in given
    [tied] = score_notes(rising, rising // 4, ALL)
    assert "12 predicted scores have 3 different values" in tied


@pytest.mark.parametrize("task", WRITERS)
def test_copies_in_a_file_are_said_by_every_way(task: str, tmp_path: Path) -> None:
    writer, ending = WRITERS[task]
    path = writer(tmp_path / f"file{ending}", 12)
    if task == "qa":
        content = json.loads(path.read_text())
        content["data"] *= 2
        path.write_text(json.dumps(content))
    else:
        head = 0 if task == "tag" else 1
        rows = path.read_text().splitlines(keepends=True)
        path.write_text("".join([*rows, *rows[head:]]))
    labels = {"multilabel": ("insult", "threat", "toxic"), "classify": ("bad", "good")}.get(task)
    checkpoint = random_model(task, labels=labels).save(tmp_path / "model")
    run = run_file(open_task_model(checkpoint, device="cpu"), path)
    assert any("of 24 inputs are copies" in note for note in run.notes)
    said = command_line.succeed(
        *("evaluate", "--task", task, "--checkpoint", checkpoint, "--data", path, "--json")
    )
    assert set(json.loads(said)["notes"]) == set(run.notes)


def test_the_report_says_what_is_learned_and_scored(tmp_path: Path) -> None:
    rows = [f"the {word} house,{('bad', 'good')[i % 2]}" for i, word in enumerate(WORDS)]
    train, dev = tmp_path / "train.csv", tmp_path / "dev.csv"
    train.write_text("\n".join(["text,label", *rows]))
    dev.write_text("\n".join(["text,label", *rows[:3], *rows[:1], "a film,bad"]))
    tiny_bert().save(tmp_path / "tiny")
    command_line.succeed(
        *("finetune", "--task", "classify", "--checkpoint", tmp_path / "tiny", "--train", train),
        *("--dev", dev, "--out", tmp_path / "out", "--epochs", "1", "--device", "cpu"),
    )
    report = (tmp_path / "out" / "report.md").read_text()
    assert "- 4 of 5 inputs of the dev data are in the training data too" in report
    assert "1 of 5 inputs is a copy of another" in report
