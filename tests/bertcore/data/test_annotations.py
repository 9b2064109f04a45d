"""Exports of annotation tools: the answers people gave; what nobody answered is counted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bertcore.configs import Columns
from bertcore.data.examples import LabelsExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import FIRST
from bertcore.training.tasks import find_task
from bertcore.training.tasks.read import read_examples
from tests.support import what_opens
from tests.support.cases import cases

TEXTS = ("john lives in paris", "the river bank", "our waiter", "the food was cold", "a bank")
PER = {"start": 0, "end": 4, "label": "PER"}


def each(*values: Any, **more: Any) -> tuple[Any, ...]:
    """Return a row for each text with one of the values, which are dicts."""
    return tuple({"text": text, **more, **one} for text, one in zip(TEXTS, values, strict=False))


def studio(*annotations: Any, **data: str) -> list[Any]:
    return [
        {"id": i, "data": {"review": text, **data}, "annotations": one}
        for i, (text, one) in enumerate(zip(TEXTS, annotations, strict=False))
    ]


def label(name: str, **more: Any) -> dict[str, Any]:
    """Return an annotation of a whole text."""
    return {"result": [{"type": "choices", "value": {"choices": [name]}}], **more}


POS, NEG = label("pos"), label("neg")
CASES: dict[str, Any] = dict(cases("annotations"))
"""An export's ending and rows, the task, and what is read: label, labels, or tags with B, of the
texts by their numbers from 0; a part of the notes; and how many are left out and counted."""
what_opens.opens("exports of Label Studio, doccano, Prodigy, Argilla 2 and spaCy")


def written(path: Path, rows: Any) -> Path:
    """Write a value of JSON; a row a line if the file is one of lines."""
    is_lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) if is_lines else json.dumps(rows))
    return path


def read(path: Path, task: str, **columns: str) -> tuple[dict[str, Any], BadRows]:
    """Return the answer to each text, and what was said of the file."""
    bad, found = BadRows(), {}
    for one in read_examples(path, find_task(task), columns=Columns(**columns), bad_rows=bad):
        if task == "tag":
            found[" ".join(one.words)] = one.labels[0].removeprefix("B-").strip("O")  # type: ignore[attr-defined]
        else:
            is_list = isinstance(one, LabelsExample)
            found[one.text] = one.labels if is_list else one.answer  # type: ignore[attr-defined]
    return found, bad


@pytest.mark.parametrize("name", CASES)
def test_answers_of_people_are_read_and_others_counted(name: str, tmp_path: Path) -> None:
    ending, rows, task, answers, said, left = CASES[name]
    path = written(tmp_path / f"a.{ending}", rows)
    column = {"label": "status"} if name == "a status that is the label" else {}
    found, bad = read(path, task, **column)
    as_lists = {text: [*one] if isinstance(one, tuple) else one for text, one in found.items()}
    assert as_lists == {TEXTS[int(number)]: answer for number, answer in answers.items()}
    assert said in " ".join(bad.notes())
    assert bad.unlabelled.total() == left
    guessed = guess(path)
    if task == "tag":
        assert guessed.task == "tag"
        columns = {"text": guessed.chosen.text or "", "label": guessed.chosen.label or ""}
        assert read(path, "tag", **columns)[0] == found
    if name in ("Label Studio, choices", "Argilla 2", "Prodigy, choices"):
        assert (guessed.task, guessed.chosen.label) == ("classify", "label")


def test_many_tasks_may_be_without_an_answer_before_the_first_one(tmp_path: Path) -> None:
    _, answered, task, answers, _, left = CASES["Label Studio, choices"]
    tasks = [{"id": i, "data": {"review": f"text {i}"}} for i in range(FIRST.num)]
    rows = [*({**task, "annotations": []} for task in tasks), *answered]
    found, bad = read(written(tmp_path / "a.json", rows), task)
    assert found == {TEXTS[int(number)]: answer for number, answer in answers.items()}
    assert bad.unlabelled.total() == FIRST.num + left


def test_a_status_beside_labels_may_be_the_answer_that_is_asked_for(tmp_path: Path) -> None:
    rows = each({"label": "a", "status": "cancelled"}, {"label": "b", "status": "done"})
    answers, bad = read(written(tmp_path / "a.jsonl", rows), "classify", label="status")
    assert answers == {TEXTS[0]: "cancelled", TEXTS[1]: "done"}
    assert not bad.notes()


def test_a_prediction_beside_an_annotation_is_a_plain_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{text},{label},pos" for text, label in zip(TEXTS, ("pos", "neg") * 2, strict=False)]
    path.write_text("\n".join(["sentence,annotation,prediction", *rows]))
    answers, _ = read(path, "classify")
    assert answers == dict(zip(TEXTS, ("pos", "neg") * 2, strict=False))
    assert {*read(path, "classify", label="prediction")[0].values()} == {"pos"}


@pytest.mark.parametrize("blank", [None, "", float("nan")])
def test_a_text_without_a_list_of_spans_is_no_sentence_without_entities(
    blank: object, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.jsonl", each({"label": [PER]}, {"label": blank}))
    found, bad = read(path, "tag")
    assert found == {TEXTS[0]: "PER"}
    assert bad.unlabelled.total() == 1


def test_empty_lists_of_spans_are_said(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", each({"label": [PER]}, {"label": []}, {"label": []}))
    assert any("an empty list of spans: 2." in n for n in read(path, "tag")[1].notes())


REFUSED = dict(cases("unread_annotations"))
for kinds, example, advice in (
    ("LightTag, and other forms of Argilla", '`{"mood.responses": ["a"]}`', "what to write"),
    (
        "Label Studio's CSV and JSON-MIN; WebAnno's TSV; CoNLL-U Plus",
        "`# global.columns = ID FORM NER`",
        "what to export",
    ),
):
    what_opens.add("Labels", kinds, example, f"refused: {advice}")


@pytest.mark.parametrize("name", REFUSED)
def test_forms_that_are_not_read_are_named(name: str, tmp_path: Path) -> None:
    ending, content, words = REFUSED[name]
    path = tmp_path / f"a.{ending}"
    path.write_text(content) if isinstance(content, str) else written(path, content)
    for look in (guess, lambda path: read(path, "tag"), lambda path: read(path, "classify")):
        with pytest.raises(ValueError, match=words):
            look(path)


@pytest.mark.parametrize("result", [[1], ["a"], 7, [{"value": 1}], [{"value": {"start": []}}]])
def test_a_broken_annotation_costs_its_row_alone(result: Any, tmp_path: Path) -> None:
    rows: Sequence[Any] = studio([POS], [{"result": result}], [NEG])
    bad = BadRows(skip=True)
    path = written(tmp_path / "a.json", rows)
    found = [*read_examples(path, find_task("classify"), bad_rows=bad)]
    assert [one.labels for one in found] == [("pos",), ("neg",)]
    assert bad.num + bad.unlabelled.total() == 1
