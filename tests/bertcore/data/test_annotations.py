"""Exports of annotation tools: the answers people gave; what nobody answered is counted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bertcore.configs import Columns
from bertcore.data.examples import LabelsExample
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.data.tables import FIRST
from bertcore.tasks import find_task
from bertcore.tasks.read import read_examples
from tests.support import what_opens

TEXTS = ("john lives in paris", "the river bank", "our waiter", "the food was cold", "a bank")
PER = {"start": 0, "end": 4, "label": "PER"}


class Case(NamedTuple):
    """An export, and what is read of it."""

    rows: Any
    """A value of JSON; a tuple: a row a line."""
    task: str
    answers: dict[int, Any]
    """Label, labels, or tags with B, of the texts that are read, by their numbers from 0."""
    said: str = ""
    """A part of the notes."""
    left: int = 0
    """Texts that are left out and counted."""


def each(*values: Any, **more: Any) -> tuple[Any, ...]:
    """Return a row for each text with one of the values, which are dicts."""
    return tuple({"text": text, **more, **one} for text, one in zip(TEXTS, values, strict=False))


def studio(*annotations: Any, **data: str) -> list[Any]:
    return [
        {"id": i, "data": {"review": text, **data}, "annotations": one}
        for i, (text, one) in enumerate(zip(TEXTS, annotations, strict=False))
    ]


def said(kind: str, value: Any, name: str = "", **more: Any) -> dict[str, Any]:
    """Return an annotation of a whole text."""
    result = {"type": kind, "value": {kind: value}} | ({"from_name": name} if name else {})
    return {"result": [result], **more}


def marked(*marks: tuple[int, int, str], **more: Any) -> dict[str, Any]:
    values = [{"start": a, "end": b, "labels": [kind]} for a, b, kind in marks]
    return {"result": [{"type": "labels", "value": value} for value in values], **more}


DOCCANO = {"start_offset": 0, "end_offset": 4, "label": "PER", "user": 1}
POS, NEG = said("choices", ["pos"]), said("choices", ["neg"])
VIEW = {"_view_id": "choice"}
CASES = {
    "Label Studio, spans": Case(
        studio([marked((0, 4, "PER"))], [], [marked()], [marked(was_cancelled=True)], []),
        "tag",
        {0: "PER", 2: ""},
        "(2 not annotated, 1 cancelled)",
        3,
    ),
    "Label Studio, several annotations": Case(
        studio([NEG, POS | {"ground_truth": True}], [POS, NEG], [NEG | {"was_cancelled": 1}, POS]),
        "classify",
        {0: "pos", 1: "pos", 2: "pos"},
        "annotated several times: 2",
    ),
    "Label Studio, choices": Case(
        studio([POS], [NEG], [POS], [], [said("choices", [])]),
        "classify",
        {0: "pos", 1: "neg", 2: "pos"},
        "(1 not annotated, 1 empty)",
        2,
    ),
    "Label Studio, a text's own label beside the answer": Case(
        studio([POS], [NEG], label="old"), "classify", {0: "pos", 1: "neg"}
    ),
    "Label Studio, several choices": Case(
        studio([said("choices", ["pos", "long"])], [NEG], [said("choices", [])], []),
        "multilabel",
        {0: ("pos", "long"), 1: ("neg",), 2: ()},
        "1 not annotated",
        1,
    ),
    "Label Studio, taxonomy": Case(
        studio([said("taxonomy", [["A", "B"], ["C"]])], [said("taxonomy", [["C"]])]),
        "multilabel",
        {0: ("A/B", "C"), 1: ("C",)},
    ),
    "Label Studio, stars": Case(
        studio([said("rating", 4)], [said("rating", 2)], []), "regress", {0: "4", 1: "2"}, "", 1
    ),
    "Label Studio, numbers": Case(
        studio([said("number", 0.5)], [said("number", 2)]), "regress", {0: "0.5", 1: "2"}
    ),
    "Label Studio, spans and a choice": Case(
        studio(
            [{"result": [*said("choices", ["x"], "kind")["result"],
                         {"from_name": "ner", "value": PER | {"labels": ["PER"]}}]}],
            [said("choices", ["y"], "kind")],
        ),
        "tag",
        {0: "PER", 1: ""},
    ),
    "Label Studio, predictions alone": Case(
        [{"data": {"text": text}, "predictions": [POS]} for text in TEXTS],
        "classify",
        {},
        "5 not annotated",
        5,
    ),
    "doccano, not approved": Case(
        each(*({"annotations": [one] if one else [], "annotation_approver": by, "meta": {}}
             for one, by in ((DOCCANO, None), (0, 1), (0, None)))),
        "tag",
        {0: "PER", 1: ""},
        "(1 not annotated)",
        1,
    ),
    "Prodigy, spans": Case(
        each({"spans": [PER], "answer": "accept"}, {"spans": [], "answer": "reject"},
             {"spans": [], "answer": "ignore"}, {"spans": []}, {"spans": [], "answer": "accept"}),
        "tag",
        {0: "PER", 4: ""},
        "1 rejected, 1 ignored, 1 not annotated",
        3,
    ),
    "Prodigy, choices": Case(
        each(*({"accept": [label], "answer": answer, "_task_hash": i, "options": [{"id": "a"}]}
             for i, (label, answer) in enumerate((("a", "accept"), ("b", "accept"),
                                                  ("a", "reject"), ("b", "ignore")))), **VIEW),
        "classify",
        {0: "a", 1: "b"},
        "1 rejected, 1 ignored",
        2,
    ),
    "Prodigy, two annotators": Case(
        each(*({"label": label, "answer": "accept", "_task_hash": n}
             for label, n in (("a", 1), ("b", 1), ("b", 2)))),
        "classify",
        {0: "a", 2: "b"},
        "annotated several times: 1",
    ),
    "Argilla 2": Case(
        [{"id": str(i), "status": "completed", "fields": {"text": text}, "responses":
          {"mood": [{"value": label, "status": status}]} if label else {}}
         for i, (text, label, status) in enumerate(zip(
            TEXTS, ("a", "b", "a", "b", ""),
            ("submitted", "submitted", "discarded", "draft", ""), strict=True))],
        "classify",
        {0: "a", 1: "b"},
        "(2 not annotated, 1 discarded)",
        3,
    ),
    "spaCy, entities": Case(
        [[TEXTS[0], {"entities": [[0, 4, "PER"]]}], [TEXTS[1], {"entities": []}], [TEXTS[2], {}]],
        "tag",
        {0: "PER", 1: ""},
        "1 not annotated",
        1,
    ),
    "NER Annotator": Case(
        {
            "classes": ["PER"],
            "annotations": [[TEXTS[0], {"entities": [[0, 4, "PER"]]}], None, [TEXTS[2], {}]],
        },
        "tag",
        {0: "PER"},
        "2 not annotated",
        2,
    ),
    "spaCy, categories": Case(
        [[text, {"cats": {"a": i % 2, "b": 1.0 - i % 2}}] for i, text in enumerate(TEXTS)],
        "classify",
        {0: "b", 1: "a", 2: "b", 3: "a", 4: "b"},
    ),
    "spaCy, categories, a line each": Case(
        each(*({"cats": {"a": a, "b": b}} for a, b in ((1.0, 0.0), (1, 1), (0, 0)))),
        "multilabel",
        {0: ("a",), 1: ("a", "b"), 2: ()},
    ),
    "Rasa, intents": Case(
        {"rasa_nlu_data": {"common_examples": [
            {"text": text, "intent": "ab"[i % 2], "entities": []}
            for i, text in enumerate(TEXTS)]}},
        "classify",
        {i: "ab"[i % 2] for i in range(5)},
    ),
    "named classes": Case(
        each({"labels": [{"label": "a"}]}, {"labels": [{"label": "b", "value": 1}]}),
        "classify",
        {0: "a", 1: "b"},
    ),
    "a column of those put aside": Case(
        each({"label": "a", "skipped": False}, {"label": "b", "skipped": True}, {"label": "b"}),
        "classify",
        {0: "a", 2: "b"},
        "1 skipped",
        1,
    ),
    "a status": Case(
        each({"label": "a", "status": "done"}, {"label": "b", "status": "Discarded"}),
        "classify",
        {0: "a"},
        "1 discarded",
        1,
    ),
    "a status that is the label": Case(
        each({"status": "done"}, {"status": "rejected"}), "classify", {0: "done", 1: "rejected"}
    ),
    "accept and reject as labels": Case(
        each({"answer": "accept"}, {"answer": "reject"}), "classify", {0: "accept", 1: "reject"}
    ),
}  # fmt: skip
what_opens.add(
    "Labels",
    "exports of Label Studio, doccano, Prodigy, Argilla 2 and spaCy",
    '`[{"annotations": [{"result": [{"value": {"choices": ["pos"]}}]}]}]`',
    "the answers; what nobody answered, or put aside, is left out and counted",
)


def written(path: Path, rows: Any) -> Path:
    lines = isinstance(rows, tuple)
    path.write_text("\n".join(map(json.dumps, rows)) + "\n" if lines else json.dumps(rows))
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
    case = CASES[name]
    path = written(tmp_path / ("a.jsonl" if isinstance(case.rows, tuple) else "a.json"), case.rows)
    column = {"label": "status"} if name == "a status that is the label" else {}
    found, bad = read(path, case.task, **column)
    assert found == {TEXTS[number]: answer for number, answer in case.answers.items()}
    assert case.said in " ".join(bad.notes())
    assert bad.unlabelled.total() == case.left
    if case.task == "tag":
        assert guess(path).task == "tag"
        again, _ = read(
            path, "tag", text=guess(path).chosen.text or "", label=guess(path).chosen.label or ""
        )
        assert again == found


@pytest.mark.parametrize("name", ["Label Studio, choices", "Argilla 2", "Prodigy, choices"])
def test_one_answer_a_text_is_guessed_as_a_class(name: str, tmp_path: Path) -> None:
    rows = CASES[name].rows
    path = written(tmp_path / ("a.jsonl" if isinstance(rows, tuple) else "a.json"), rows)
    assert guess(path).task == "classify"
    assert guess(path).chosen.label == "label"


def test_many_tasks_may_be_without_an_answer_before_the_first_one(tmp_path: Path) -> None:
    case = CASES["Label Studio, choices"]
    tasks = [{"id": i, "data": {"review": f"text {i}"}} for i in range(FIRST.num)]
    rows = [*({**task, "annotations": []} for task in tasks), *case.rows]
    answers, bad = read(written(tmp_path / "a.json", rows), case.task)
    assert answers == {TEXTS[number]: answer for number, answer in case.answers.items()}
    assert bad.unlabelled.total() == FIRST.num + case.left


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


RECORD = {"text": TEXTS[0], "annotation": [["PER", 0, 4]], "status": "Validated"}
FLAT = {"id": 1, "annotator": 1, "annotation_id": 7, "sentiment": "pos"}
REFUSED = {
    # what: (file, content, words of the refusal)
    "Argilla 2, a column for each": ("jsonl", each({"mood.responses": ["a"]}), "form of Argilla"),
    "Argilla's feedback": (
        "jsonl", ({"fields": {"text": "x"}, "responses": [{"values": {}}]},), "form of Argilla"),
    "Argilla 1": ("jsonl", ({**RECORD, "prediction": None},), "form of Argilla"),
    "LightTag": (
        "jsonl", ({"content": TEXTS[0], "seen_by": [1], "annotations": []},), "form of LightTag"),
    "JSON-MIN": ("json", [*each(FLAT)], "Label Studio's CSV or JSON-MIN"),
    "Label Studio's CSV": (
        "csv", "text,label,annotator,annotation_id\na b,x,1,7\n", "Label Studio's CSV or JSON-MIN"),
    "brat": ("ann", "T1\tPER 0 4\tJohn\nT2\tLOC 14 19\tParis\n", "annotations of brat"),
    "WebAnno": (
        "tsv", "#FORMAT=WebAnno TSV 3.3\n\n1-1\t0-4\tJohn\t*[1]\tPER[1]\t\n", "a TSV of WebAnno"),
    "CoNLL-U Plus": (
        "txt", "# global.columns = ID FORM NER\n1\tEU\tB-ORG\n\n1\tOslo\tB-LOC\n", "CoNLL-U Plus"),
}  # fmt: skip
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
    if isinstance(content, str):
        path.write_text(content)
    else:
        written(path, content)
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
