"""Labelled files of well-known data sets: guessed, read, scored and divided alike by every way."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bertcore.analysis.attribution import run_file
from bertcore.configs.columns import Columns
from bertcore.data.examples import Example, LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.training.finetuning.data.division import Division, divide
from bertcore.training.tasks import find_task, open_task_model
from bertcore.training.tasks.read import read_examples, survey
from tests.support import command_line
from tests.support.public_files import CASES, SHORT, Case, made  # rows of docs/what-opens.md
from tests.support.rigged_models import random_model
from tests.support.tiny import tiny_bert


def fields(example: Example) -> tuple[str, ...]:
    """Return texts and labels."""
    assert isinstance(example, TextExample | LabelsExample)
    pair = () if example.text_pair is None else (example.text_pair,)
    found = example.labels if isinstance(example, LabelsExample) else (example.answer,)
    return (example.text, *pair, *(found or ("",)))


READ = [case for case in CASES if case.first]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """Return the folder of a checkpoint with the labels of a case."""
    folder = tmp_path_factory.mktemp("models")
    made: dict[tuple[str, ...], Path] = {}

    def model(case: Case) -> Path:
        key = (case.task, *case.labels)
        if key not in made:
            made[key] = random_model(case.task, labels=case.labels).save(folder / str(len(made)))
        return made[key]

    return model


@pytest.mark.parametrize("case", READ, ids=lambda case: case.file)
def test_every_way_reads_the_same(
    case: Case, scored: Callable[[Case], Path], tmp_path: Path
) -> None:
    path = made(case, tmp_path)
    guessed = guess(path)
    assert guessed.task == case.task
    for columns in (guessed.chosen, Columns()):
        bad = BadRows()
        found = list(read_examples(path, find_task(case.task), columns=columns, bad_rows=bad))
        assert fields(found[0]) == case.first
        assert len(found) == len(SHORT)
    assert set(survey(path, case.task, columns=guessed.chosen).labels) == set(case.labels)
    divide(path, tmp_path, Division(held_out=0.5), task=case.task, columns=guessed.chosen)
    checkpoint = scored(case)
    model = open_task_model(checkpoint, device="cpu")
    run = run_file(model, path)
    said = command_line.succeed(
        *("evaluate", "--task", case.task, "--checkpoint", checkpoint, "--data", path, "--json")
    )
    values = json.loads(said)
    for one in (run, run_file(model, path, columns=guessed.chosen)):
        assert values["metrics"] == pytest.approx(one.metrics().metrics)
    assert set(run.notes) == set(values["notes"])
    assert values["num_examples"] == run.num_examples == len(SHORT)


@pytest.mark.parametrize("case", [case for case in CASES if not case.first], ids=lambda c: c.file)
def test_what_is_refused_says_why_alike(case: Case, tmp_path: Path) -> None:
    """By the commands, and where the app shows what was guessed."""
    path = made(case, tmp_path)
    words = case.comes.removeprefix("refused: ")
    if case.file.endswith(".json"):
        with pytest.raises(ValueError, match=words):
            guess(path)
    else:
        assert guess(path).chosen.label is None
    tiny_bert().save(tmp_path / "tiny")
    refused = command_line.refusal(
        *("finetune", "--task", "classify", "--checkpoint", tmp_path / "tiny", "--train", path),
        *("--held-out", "0.5", "--out", tmp_path / "out"),
    )
    assert words in refused


def test_a_command_finds_columns_as_the_app_does(tmp_path: Path) -> None:
    """Names with capitals, and a header that stands twice, are no reason to ask."""
    path = tmp_path / "reviews.csv"
    rows = [f"the {text},{i % 2}" for i, text in enumerate(SHORT)]
    path.write_text("\n".join(["Text,Label", *rows]))
    model = random_model("classify", labels=("0", "1")).save(tmp_path / "model")
    words = ("evaluate", "--task", "classify", "--checkpoint", model, "--data")
    assert "accuracy" in command_line.succeed(*words, path)
    assert guess(path).chosen == Columns(text="Text", label="Label")
    path.write_text("\n".join(["Text,Label", *rows, "Text,Label"]))
    assert "12 examples" in command_line.succeed(*words, path)
