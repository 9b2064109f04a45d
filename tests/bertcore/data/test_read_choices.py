"""Multiple choice as published: SWAG, HellaSwag, ARC, RACE and their like, read by columns."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bertcore.configs import Columns
from bertcore.data.examples import ChoiceExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.read_rows import read_choices
from tests.support.cases import cases
from tests.support.what_opens import opens

STEM, ENDS = "Which one swims?", ["a fish", "a stone", "a house"]
FORMS: dict[str, Any] = dict(cases("choices"))
ANSWERS = {"ARC": "answerKey", "ARC of the hub": "answerKey", "OpenBookQA": "answerKey"}
LETTERS = {*ANSWERS, "RACE"}


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, **columns: str) -> tuple[list[ChoiceExample], list[str]]:
    bad = BadRows()
    return list(read_choices(path, columns=Columns(**columns), bad_rows=bad)), bad.notes()


@opens("HellaSwag, ARC, RACE and others")
@pytest.mark.parametrize("form", FORMS)
def test_published_forms_are_read_and_guessed(form: str, tmp_path: Path) -> None:
    row, text, choices = FORMS[form]
    name = ANSWERS.get(form, "answer" if form in ("RACE", "MMLU") else "label")
    values = ["B", "A", "B"] if form in LETTERS else [1, 0, 1]
    path = written(tmp_path / "a.jsonl", [{**row, name: value} for value in values])
    expected = [ChoiceExample(text, choices, right, i + 1) for i, right in enumerate((1, 0, 1))]
    assert read(path) == (expected, [])
    found = guess(path)
    assert (found.task, found.chosen.label) == ("choice", name)
    pd.read_json(path, lines=True).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == (expected, [])


@pytest.mark.parametrize(("answers", "right", "said"), cases("numbered_choices"))
def test_numbers_are_counted_as_the_file_does(
    answers: list[Any], right: list[int], said: str, tmp_path: Path
) -> None:
    rows = [{"sentence": "The _ swam.", "option1": "fish", "option2": "stone", "answer": answer}
            for answer in answers]  # fmt: skip
    examples, notes = read(written(tmp_path / "a.jsonl", rows))
    assert [one.answer for one in examples] == right
    assert said in " ".join(notes)
    assert bool(said) == bool(notes)


def test_other_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("story,ask,ending0,ending1,right\nA tale.,Who,a,b,1\nA tale.,Who,a,b,0\n")
    examples, _ = read(path, text="story", text_pair="ask", label="right")
    assert examples[0] == ChoiceExample("A tale.", ["Who a", "Who b"], 1, 1)


@pytest.mark.parametrize("nobody", [None, "", -1, "NaN"])
def test_choices_that_nobody_made_are_left_out_and_counted(nobody: Any, tmp_path: Path) -> None:
    rows = [{"question": "q", "choices": ["a", "b"], "answer": answer} for answer in (1, nobody, 0)]
    examples, notes = read(written(tmp_path / "a.jsonl", rows))
    assert [one.row for one in examples] == [1, 3]
    assert "1 example has no label and was left out" in notes[0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "q", "choices": ["a"], "answer": 0}, "has 1 choices .*; expected two"),
        ({"question": "q", "choices": ["a", ""], "answer": 0}, "has an empty choice"),
        ({"question": "q", "choices": ["a", "b"], "answer": 2}, "'2'; expected a number from"),
        ({"question": "q", "choices": ["a", "b"], "answer": "9" * 9000}, "expected a number"),
        ({"question": "q", "choices": 7, "answer": 0}, "has 0 choices"),
        ({"question": "q", "choices": {"text": 1, "label": [2]}, "answer": 0}, "has 0 choices"),
        ({"text": "q", "choices": ["a", "b"], "answer": 0}, "name for the text; .*--text"),
        ({"question": "q", "choices": ["a", "b"]}, "for the right one; .*--label"),
        (
            {"article": "a", "questions": ["q"], "options": [["a", "b"]], "answers": ["B"]},
            "several questions, as RACE",
        ),
        (
            {"sent1": "a", "ending0": "b", "ending2": "c", "label": 0},
            "has no columns of choices: ending0",
        ),
    ],
)
def test_what_is_no_choice_is_one_sentence(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    good = {"question": "q", "choices": ["a", "b"], "answer": 0}
    rows = [row, good] if {*row} == {*good} else [row]
    with pytest.raises(ValueError, match=said):
        read(written(tmp_path / "a.jsonl", rows))
