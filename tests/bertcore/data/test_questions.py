"""Questions in every form of SQuAD: the same examples, and answers at their places."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bertcore.data.examples import QuestionExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.read_rows import read_questions
from tests.support import what_opens
from tests.support.cases import cases

CONTEXT = "the man is in paris. the woman is in a house."
ROWS: list[dict[str, Any]] = [
    {"id": "a", "question": "where is the man?", "answers": [("paris", 14)]},
    {"id": "b", "question": "where is the woman?", "answers": [("a house", 37), ("house", 39)]},
    {"id": "c", "question": "where is the dog?", "answers": []},
]


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as `datasets` has it."""
    texts, starts = [text for text, _ in row["answers"]], [at for _, at in row["answers"]]
    answers = {"text": texts, "answer_start": starts}
    fields = {"id": row["id"], "title": "T", "context": CONTEXT, "question": row["question"]}
    return {**fields, "answers": answers}


PARQUET = "rows of `datasets`, Parquet"
FORMS: dict[str, Any] = dict(cases("questions")) | {
    PARQUET: ("rows.parquet", "", "`id`, `title`, `context`, `question`, `answers`")
}
"""The file, its content, and an example of it."""
for kind, (_, _, example) in FORMS.items():
    what_opens.add("Questions", kind, example, "questions with their answers")


@pytest.mark.parametrize("kind", FORMS)
def test_every_form_has_the_same_questions(kind: str, tmp_path: Path) -> None:
    name, content, _ = FORMS[kind]
    path = tmp_path / name
    path.write_bytes(content.encode())
    if kind == PARQUET:
        pd.DataFrame(map(flat, ROWS)).to_parquet(path)
    assert guess(path).task == "qa"
    bad = BadRows()
    found = list(read_questions(path, bad_rows=bad))
    assert found == [
        QuestionExample(row["id"], row["question"], CONTEXT, row["answers"], number)
        for number, row in enumerate(ROWS, 1)
    ]
    assert not bad.num


def test_an_answer_without_a_place_is_named(tmp_path: Path) -> None:
    """cdQA#340: the annotator wrote -1 where it did not find the answer."""
    path = tmp_path / "a.json"
    path.write_text(FORMS["SQuAD 1.1"][1].replace('"answer_start": 14', '"answer_start": -1'))
    with pytest.raises(ValueError, match=r"'paris'.*answer_start.*-1"):
        list(read_questions(path, bad_rows=BadRows()))


@pytest.mark.parametrize(
    "empty",
    [[], "", None, {}, float("nan"), "None", "nan", "[]", [None], {"text": [], "answer_start": []},
     {"text": [""], "answer_start": [-1]}, [{"text": "", "answer_start": 0}],
     "{'text': array([], dtype=object), 'answer_start': array([], dtype=int32)}"],
)  # fmt: skip
def test_an_empty_answer_is_none_however_it_is_written(empty: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [flat(ROWS[0]), {**flat(ROWS[1]), "answers": empty}]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [len(one.answers) for one in read_questions(path, bad_rows=BadRows())] == [1, 0]


@pytest.mark.parametrize("word", ["None", "null", "nan"])
def test_a_word_for_nothing_that_stands_at_its_place_is_an_answer(
    word: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    answers = {"text": [word], "answer_start": [6]}
    path.write_text(
        json.dumps({"question": "what?", "context": f"it is {word}", "answers": answers})
    )
    assert [one.answers for one in read_questions(path, bad_rows=BadRows())] == [[(word, 6)]]


def test_an_odd_answer_costs_its_own_question_alone(tmp_path: Path) -> None:
    path, bad = tmp_path / "a.jsonl", BadRows(skip=True)
    odd = ({"text": ["x"], "answer_start": [0]}, 7, [[1]], {"text": "x"}, [{"text": ["a"]}])
    rows = [flat(ROWS[0]), *({**flat(ROWS[1]), "answers": one} for one in odd)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert len(list(read_questions(path, bad_rows=bad))) == 1
    assert bad.num == len(odd)


@pytest.mark.parametrize("first", [{}, {"header": {"dataset": "SQuAD"}}])
def test_answers_of_mrqa_are_named(first: dict[str, Any], tmp_path: Path) -> None:
    path, answers = tmp_path / "a.jsonl", [{"text": "Paris", "char_spans": [[0, 4]]}]
    question = {"question": "where?", "detected_answers": answers}
    rows = (
        [first, {"context": "Paris is old", "qas": [question]}]
        if first
        else [{"context": "Paris is old", **question}]
    )
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ValueError, match="is of MRQA"):
        list(read_questions(path, bad_rows=BadRows()))
