"""Labelled files: the numbers of `score_model`, streamed; the worst errors; bad files told."""

import json
from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import FileRun, answer, run_file, task_input
from bertcore.configs import Columns
from bertcore.training.tasks import TaskModel, score_model
from tests.support.cases import cases
from tests.support.finetuning_files import WRITERS, data_of, write_labelled, write_questions
from tests.support.rigged_models import bag_of_words, random_model

WORDS = {"bad": (3.0, 0.0), "old": (1.0, 0.0), "good": (0.0, 2.0), "new": (0.0, 1.0)}


def write(task: str, folder: Path, num: int = 48) -> Path:
    if task == "pair":
        return write_labelled(task, folder)
    if task == "qa2":
        return write_questions(folder / "qa2.json", num, impossible=True)
    write_file, ending = WRITERS[task]
    return write_file(folder / f"a{ending}", num)


@pytest.mark.parametrize(
    "task", ["classify", "pair", "multilabel", "regress", "tag", "qa", "qa2", "choice"]
)
def test_numbers_are_those_of_evaluate(task: str, tmp_path: Path) -> None:
    path = write(task, tmp_path)
    model = random_model(task[:2] if task == "qa2" else task)
    if task == "classify":
        model = random_model("classify")
        model = TaskModel(model.task, model.module, model.tokenizer, ("bad", "good", "x"), "m")
    data = data_of(path, model, max_length=64)
    expected = score_model(model.module, data, model.task)
    found = run_file(model, path, rows_at_once=7, max_length=64)
    metrics, intervals, matrix, _ = found.metrics()
    theirs = expected.scores.metrics
    # Of equal inputs the last bit differs by batch, and ranks with it.
    near = 1e-2 if task == "regress" else 1e-5
    for name, value in metrics.items():
        assert value == pytest.approx(theirs[name], abs=near), name
        assert intervals[name] == pytest.approx(expected.scores.intervals[name], abs=near)
    if matrix is not None:
        assert matrix.tolist() == expected.scores.confusion
    assert found.num_examples == expected.scores.num_examples
    if task in ("classify", "pair", "multilabel", "choice"):
        sure = [line["confidence"] for line in expected.predictions]
        np.testing.assert_allclose(found.confidence, sure, atol=1e-5)


def test_the_most_confident_errors_come_first(tmp_path: Path) -> None:
    rows = ["the bad film", "the good film", "the new film", "the old film", "good new day"]
    labels = ["good", "good", "bad", "good", "bad"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["text,label", *map(",".join, zip(rows, labels, strict=True))]))
    found = run_file(bag_of_words(WORDS), path)
    assert found.num_errors == 4
    errors = [(one.row, one.text, one.gold, one.predicted) for one in found.errors]
    assert errors[:2] == [
        (1, "the bad film", "good", "bad"),
        (5, "good new day", "bad", "good"),
    ]
    assert {row for row, *_ in errors[2:]} == {3, 4}
    assert found.errors[0].severity == pytest.approx(1 / (1 + np.exp(-3)), abs=1e-6)
    assert found.right.tolist() == [False, True, False, False, False]


def test_an_answer_is_withheld_as_in_a_file(tmp_path: Path) -> None:
    """Where a file holds questions without an answer, the same texts one by one agree with it."""
    path = write("qa2", tmp_path, 24)
    withheld = []
    for seed in range(4):
        model = random_model("qa", seed=seed)
        found = run_file(model, path)
        content = json.loads(path.read_text())
        for number, paragraph in enumerate(content["data"][0]["paragraphs"]):
            question = paragraph["qas"][0]["question"]
            best = answer(model, task_input(model, question, paragraph["context"])).best
            assert (best is not None) == bool(found.predicted[number])
            withheld.append(best is None)
    assert len(set(withheld)) == 2


def test_tags_are_told_by_sentence(tmp_path: Path) -> None:
    model = random_model("tag")
    found = run_file(model, write("tag", tmp_path, 20), rows_at_once=6)
    assert found.sentences.sum() == len(found.gold) == len(found.confidence)
    assert len(found.sentences) == found.num_examples == 20
    starts = np.cumsum(found.sentences) - found.sentences
    assert found.num_errors == len(
        {int(np.searchsorted(starts, i, "right")) for i in np.flatnonzero(~found.right)}
    )
    error = found.errors[0]
    assert error.word is not None
    assert error.gold.startswith(f"{error.text.split()[error.word]}: ")


def test_slices_and_calibration_come_from_the_same_answers(tmp_path: Path) -> None:
    found = run_file(bag_of_words(WORDS), write("classify", tmp_path, 60))
    total = sum(one.mean * one.number for one in found.slices_by_label())
    assert total == pytest.approx(found.right.sum())
    assert {one.name for one in found.slices_by_label()} == {"bad", "good"}
    calibrated = found.calibration()
    assert sum(each.number for each in calibrated.bins) == 60
    scores: FileRun = run_file(random_model("regress"), write("regress", tmp_path))
    assert scores.calibration() is None
    assert scores.slices_by_label() == []
    assert np.isfinite([one.mean for one in scores.slices_by_length()]).all()


@pytest.mark.parametrize(("text", "message"), cases("bad_labelled_files"))
def test_bad_files_are_told(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        run_file(bag_of_words(WORDS), path)


def test_bad_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,label\nfine,gut\nthe good film,good\nbad,\n")
    found = run_file(bag_of_words(WORDS), path, skip_bad_rows=True)
    assert found.num_examples == 1
    assert "1 bad row was left out" in found.notes[0]
    assert found.notes[1] == "1 example has no label and was left out (1 empty)."
    path.write_text("text,label\nfine,gut\n")
    with pytest.raises(ValueError, match=r"0 rows.*'gut'"):
        run_file(bag_of_words(WORDS), path, skip_bad_rows=True)


def test_columns_by_name_and_one_class_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("said,mood\nthe good film,good\nnew,good\n")
    found = run_file(bag_of_words(WORDS), path, columns=Columns(text="said", label="mood"))
    assert found.right.all()
    assert found.errors == ()
    assert found.metrics()[0]["accuracy"] == 1.0
