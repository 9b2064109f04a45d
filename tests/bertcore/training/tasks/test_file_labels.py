"""Labels of files as people have them: no label, numbers, spellings, lists, and other orders."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from bertcore.analysis.attribution import answer, run_file, task_input
from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.data.labels import read_label_map
from bertcore.model.network.task_heads import TaskNetwork, initialize_head
from bertcore.training.evaluation.answer_notes import assignment_notes, better_assignment
from bertcore.training.evaluation.metrics import score_metrics
from bertcore.training.finetuning import start_experiment
from bertcore.training.tasks import (
    TASKS,
    LabelsAnswer,
    ScoreAnswer,
    TaskModel,
    find_task,
    open_task_model,
    read_task_data,
    score_model,
)
from bertcore.training.tasks.read import read_examples, survey
from tests.support.finetuning_files import data_of, quick_settings, scores_on
from tests.support.kit import edit
from tests.support.rigged_models import bag_of_words, started
from tests.support.tiny import tiny_bert, tiny_network, tiny_tokenizer
from tests.support.what_opens import opens


def lines(path: Path, labels: Iterable[object]) -> Path:
    """Write JSON lines with these labels."""
    path.write_text("\n".join(json.dumps({"text": "the film", "label": one}) for one in labels))
    return path


def sheet(path: Path, *cells: str) -> Path:
    path.write_text("\n".join(["text,label", *(f"the film,{cell}" for cell in cells)]) + "\n")
    return path


def labels_of(path: Path, task: str = "classify", **columns: str) -> tuple[list[object], str]:
    """Return the labels of a file's examples and its notes."""
    bad = BadRows()
    found = read_examples(path, find_task(task), columns=Columns(**columns), bad_rows=bad)
    given = [one.labels if task == "multilabel" else one.labels[0] for one in found]
    return given, " ".join(bad.notes())


# ---- what labels stand for ----

NONE = (None, float("nan"), "", "-", -1, -100, "NaN", "null", "<NA>", -1.0)
TWO = "'Positive' (2) and 'positive' (1) differ only in spelling"
LABELS: dict[str, tuple[list[object], str, str]] = {
    # what: (the cells, a string if in CSV; the labels; words of the notes, "" for none)
    **{
        f"without a label: {mark!r}": ([0, 1, 2, mark, 0], "0 1 2 0", "1 example has no label and")
        for mark in NONE
    },
    "-1 and 1": (["-1", "1"] * 3, "-1 1 -1 1 -1 1", "--label-map=-1="),
    "-1, 0 and 1": (["-1", "0", "1"], "-1 0 1", "'-1' (1 times) is taken for a label"),
    "from -2 to 2": (["-2", "-1", "0", "1", "2"], "-2 -1 0 1 2", "'-1'"),
    "signs": (["+", "-"] * 2, "+ - + -", ""),
    "a rare -1": (["0", "1"] * 10 + ["-1"], " ".join("01" * 10), "(1 -1)"),
    "spellings of numbers": ([1, 1.0, "1", "1.0", True, False, 0], "1 1 1 1 1 0 0", ""),
    "words for truth": (["True", "False"], "True False", ""),
    "spellings": (["Positive", "positive", "Positive", "N"], "Positive positive Positive N", TWO),
}  # fmt: skip


@opens("no label")
@opens("marks that are classes")
@opens("numbers in several spellings")
@opens("two spellings")
@pytest.mark.parametrize("what", LABELS)
def test_labels_and_what_is_said_of_them(what: str, tmp_path: Path) -> None:
    cells, labels, said = LABELS[what]
    is_json = not all(isinstance(cell, str) for cell in cells)
    path = lines(tmp_path / "a.jsonl", cells) if is_json else sheet(tmp_path / "a.csv", *cells)  # type: ignore[arg-type]
    given, notes = labels_of(path)
    assert " ".join(map(str, given)) == labels
    assert said in notes
    assert bool(said) == bool(notes)
    if "-1" in given:
        assert "-1" not in labels_of(path, label_map="-1=")[0]
    if what == "spellings":
        assert "--label-map positive=Positive" in notes
        assert survey(path, "classify").notes == (notes,)
        merged = labels_of(path, label_map="positive=Positive")[0]
        assert merged == ["Positive"] * 3 + ["N"]


@pytest.mark.parametrize("known", [("LABEL_0", "LABEL_1"), ("NEGATIVE", "POSITIVE")])
def test_they_are_no_class_of_a_checkpoint(known: tuple[str, str], tmp_path: Path) -> None:
    model = bag_of_words({"film": (0.0, 3.0)}, labels=known)
    path = sheet(tmp_path / "a.csv", "0.0", "1.0", "", "nan", "-1", "1.0")
    run = run_file(model, path)
    assert run.gold.tolist() == [0, 1, 1]
    assert "3 examples have no label and were left out (2 empty, 1 -1)." in run.notes
    data = read_task_data(path, model.task, model.tokenizer, max_length=16, labels=known)
    assert (data.rows.targets.tolist(), data.notes) == ([0, 1, 1], run.notes[:2])


IDS, NUMBERS = [f"id{i}" for i in range(30)], r"each of the 30 labels .* occurs once"


@opens("a column that numbers the rows")
@pytest.mark.parametrize(
    ("cells", "options", "said"),
    [
        (["-1"] * 5, {}, r"5 have no label \(-1\), as in test splits"),  # of GLUE
        (IDS, {}, NUMBERS),
        (IDS, {"dev": None, "held_out": 0.1}, NUMBERS),
    ],
)
def test_a_column_without_labels_is_named(
    cells: list[str], options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path, tiny = sheet(tmp_path / "a.csv", *cells), tiny_bert().save(tmp_path / "tiny")
    settings = quick_settings(tiny, path, **{"dev": path, **options})
    with pytest.raises(ValueError, match=said):
        start_experiment(tmp_path / "out", settings)


def test_scores_without_a_number_are_left_out(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [1.5, None, float("nan"), 2, True])
    found = list(read_examples(path, find_task("regress"), bad_rows=BadRows()))
    assert [one.answer for one in found] == ["1.5", "2", "1"]  # type: ignore[attr-defined]


@opens("numbers as labels")
def test_numbers_are_in_order(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.csv", *(f"{i}.0" for i in (10, 2, 1, 3, 9, 4, 5, 6, 7, 8)))
    data = read_task_data(path, find_task("classify"), tiny_tokenizer(), max_length=16)
    assert data.labels == tuple(map(str, range(1, 11)))


@opens("other names")
def test_a_label_map_overrules_names_and_numbers(tmp_path: Path) -> None:
    model = bag_of_words({"film": (0.0, 3.0)})
    path = sheet(tmp_path / "a.csv", "0", "1", "2")
    run = run_file(model, path, columns=Columns(label_map="0=good,1=bad,2="))
    assert run.gold.tolist() == [1, 0]
    assert "1 example has no label and was left out (1 2)." in run.notes
    known = run_file(model, sheet(path, "0", "1"), columns=Columns(label_map="bad=good,good=bad"))
    assert known.gold.tolist() == [1, 0]  # by the names that the labels stand for
    with pytest.raises(ValueError, match="--label-map names the label 'fine', which is not one of"):
        run_file(model, path, columns=Columns(label_map="0=fine"))
    assert read_label_map('{"a,b": "c=d"}') == {"a,b": "c=d"}
    for wrong in ("0", "{", '{"a": 1}'):
        with pytest.raises(ValueError, match="expected a label of the file and what it stands for"):
            read_label_map(wrong)
    assert "'x', which is no label" in labels_of(path, label_map="x=y")[1]


@opens("a flag for each label")
@pytest.mark.parametrize("is_text", [False, True])
def test_lists_of_flags_and_of_ids(is_text: bool, tmp_path: Path) -> None:
    flags = [[0, 1, 0], [1.0, 0.0, 1.0], [0, 0, 0]]
    path = lines(tmp_path / "a.jsonl", map(str, flags) if is_text else flags)
    model = bag_of_words({"film": (3.0, -3.0, 3.0)}, task="multilabel", labels=("x", "y", "z"))
    run = run_file(model, path)
    assert run.gold.astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    assert "'0' is 'x', '1' is 'y', '2' is 'z'" in run.notes[0]
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabels\nthe film\t0,2\nthe cat\t1\nthe dog\t2\n")  # GoEmotions
    assert run_file(model, path).gold.astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]


@opens("rows that nobody judged")
def test_rows_that_nobody_judged_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,toxic,threat\nx,1,0\ny,-1,-1\nz,,\nw,0.0,1.0\n")
    given, notes = labels_of(path, "multilabel", label="toxic,threat")
    assert given == [("toxic",), ("threat",)]
    assert notes == "2 examples have no label and were left out (1 -1, 1 empty)."


# ---- equal names ----


def edited(folder: Path, labels: tuple[str, ...], **fields: object) -> Path:
    """Save a classifier, with other fields in its config.json; None leaves one out."""
    model = started(tiny_bert().save(folder / "tiny"), labels=labels)
    out = model.save(folder / "out")
    edit(out, **fields)
    return out


@opens("two outputs of one name")
def test_outputs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    names = {"id2label": {"0": "pos", "1": "pos", "2": None}, "label2id": {"pos": 1}}
    opened = open_task_model(edited(tmp_path, ("a", "b", "c"), **names), device="cpu")
    assert opened.labels == ("pos (id 0)", "pos (id 1)", " (id 2)")
    (note,) = [n for n in opened.notes if n.startswith("2 outputs of the head")]
    assert "have the name 'pos' (ids 0, 1)" in note
    assert note.endswith("in a file too: 'pos (id 0)'.")
    for labels in ("012", ["pos (id 0)", "pos (id 1)", " (id 2)"]):
        path = lines(tmp_path / "a.jsonl", labels)
        data = data_of(path, opened)
        assert data.rows.targets.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"the label 'pos', which is not one of 'pos \(id 0\)'"):
        run_file(opened, sheet(tmp_path / "b.csv", "pos", "pos"))


@opens("`label2id` against `id2label`")
def test_label2id_against_id2label_is_said(tmp_path: Path) -> None:
    ids = {"no": 1, "yes": 0}
    opened = open_task_model(edited(tmp_path, ("no", "yes"), label2id=ids), device="cpu")
    assert opened.labels == ("no", "yes")
    assert any("label2id gives 'no' the id 1, id2label the id 0" in note for note in opened.notes)
    assert opened.notes[0] in run_file(opened, sheet(tmp_path / "a.csv", "no", "yes")).notes
    alone = edited(tmp_path / "b", ("no", "yes"), id2label=None)
    assert "label2id ('no', 'yes') but no id2label" in open_task_model(alone).notes[0]


def test_names_that_are_too_few_are_said_where_they_are_not_used(tmp_path: Path) -> None:
    names = {"id2label": {"0": "no", "1": "yes"}, "label2id": None}
    opened = open_task_model(edited(tmp_path, ("a", "b", "c"), **names), device="cpu")
    assert opened.labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    (note,) = opened.notes
    assert "names 2 labels but the head has 3 outputs: they are called LABEL_0, LABEL_1" in note
    assert not open_task_model(edited(tmp_path / "b", ("no", "yes")), device="cpu").notes


# ---- another order ----

ANSWERS = {"film": (9.0, 0.0, 0.0), "cat": (0.0, 9.0, 0.0), "fish": (0.0, 0.0, 9.0)}


def shuffled(path: Path, order: tuple[int, ...], num: int = 18) -> Path:
    words = list(ANSWERS)
    fillers = [" ".join(("and", "was", "ran", "she", "very")[: i % 6]) for i in range(num)]
    more = [" ".join(("old", "new")[: i // 6]) for i in range(num)]
    rows = [
        f"the {words[i]} {fillers[n]} {more[n]},{order[i]}" for n in range(num) for i in range(3)
    ]
    path.write_text("\n".join(["text,label", *rows]))
    return path


@opens("labels in another order")
def test_labels_in_another_order_are_said_with_the_chance(tmp_path: Path) -> None:
    model = bag_of_words(ANSWERS, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    path = shuffled(tmp_path / "a.csv", (2, 0, 1))
    run = run_file(model, path)
    assert not run.right.any()
    note = run.notes[-1]
    assert "of 54 answers 0 are right, but 54 would be" in note
    assert "'LABEL_2' is 'LABEL_0'" in note
    assert "less than once in 10^2" in note
    data = data_of(path, model)
    module = model.module  # `score_model` runs encoder and head apart
    module.encode, module.read = module.forward, lambda logits, *rest: logits  # type: ignore[assignment, method-assign]
    assert score_model(module, data, model.task).scores.notes == (note,)
    label_map = note.split("--label-map ")[1].split(";")[0]
    again = run_file(model, path, columns=Columns(label_map=label_map))
    assert again.right.all()
    assert "another order" not in " ".join(again.notes)


def test_what_proves_another_order_and_what_does_not(tmp_path: Path) -> None:
    """MNLI: contradiction first or last. Few examples, and copies of a text, prove nothing."""
    model = bag_of_words(ANSWERS, labels=("contradiction", "neutral", "entailment"))
    note = run_file(model, shuffled(tmp_path / "a.csv", (2, 1, 0))).notes[-1]
    assert "of 36 answers 0 are right, but 36 would be" in note
    assert "'entailment' is 'contradiction'" in note
    copies = [f"the {word},{(i + 1) % 3}" for i, word in enumerate(ANSWERS)] * 40
    (tmp_path / "b.csv").write_text("\n".join(["text,label", *copies]))
    few = [shuffled(tmp_path / f"{num}.csv", (2, 0, 1), num=num) for num in (1, 2)]
    for path in (*few, tmp_path / "b.csv"):
        assert not any("another order" in note for note in run_file(model, path).notes)


def test_the_chance_bounds_what_unrelated_answers_reach() -> None:
    rng = np.random.default_rng(0)
    found = [
        better_assignment(np.histogram2d(*rng.integers(0, 3, (2, 40)), bins=3)[0].astype(int))
        for _ in range(2000)
    ]
    assert sum(one is not None for one in found) <= 4
    always = np.array([[0, 0], [90, 10]])  # one answer to nearly everything
    assert better_assignment(always.T) is None
    assert better_assignment(np.array([[2, 38], [40, 0]])) is not None
    assert better_assignment(np.array([[20, 20], [20, 20]])) is None


def test_it_is_said_of_tags_and_of_several_labels() -> None:
    gold = np.eye(4, dtype=bool)[np.arange(60) % 3]
    moved = gold[:, [1, 2, 0, 3]]
    [note] = assignment_notes(gold, moved, ["w", "x", "y", "z"], 60)
    assert "'w' is 'z'" not in note
    assert "'x' is 'w'" in note
    assert assignment_notes(gold, gold, ["w", "x", "y", "z"], 60) == []
    assert assignment_notes(gold, np.ones_like(gold), ["w", "x", "y", "z"], 60) == []
    tags = np.tile([0, 1, 2, 3, 4], 30)
    names = ["O", "PER", "PER", "LOC", "LOC"]  # of O, B-PER, I-PER, B-LOC, I-LOC
    [note] = assignment_notes(tags, np.tile([0, 3, 4, 1, 2], 30), names, 60)
    assert "--label-map PER=LOC,LOC=PER;" in note


# ---- one output ----


def one_output(folder: Path, **fields: object) -> Path:
    """Save a head of one output, as a cross-encoder has it."""
    module = TaskNetwork(tiny_network(seed=3), "sequence", 1)
    module.network.mlm = module.network.nsp = None
    initialize_head(module, torch.Generator().manual_seed(1))
    with torch.no_grad():
        module.head.classifier.weight.mul_(30)  # type: ignore[operator]
        module.head.classifier.bias.fill_(0.4)
    TaskModel(TASKS["regress"], module, tiny_tokenizer(), (), "one").save(folder)
    edit(folder, **{"problem_type": None, "bertscope": None, **fields})
    return folder


def activation(name: str) -> dict[str, object]:
    return {"sentence_transformers": {"activation_fn": f"torch.nn.modules.{name}"}}


@opens("a cross-encoder's activation")
def test_the_activation_of_a_cross_encoder(tmp_path: Path) -> None:
    """As CrossEncoder.predict: the sigmoid, unless Identity is stored."""
    models = {
        name: open_task_model(one_output(tmp_path / name, **fields), device="cpu")
        for name, fields in {
            "none": {},
            "plain": {"problem_type": "regression"},
            "identity": activation("linear.Identity"),
            "sigmoid": activation("activation.Sigmoid"),
            "old": {"sbert_ce_default_activation_function": "torch.nn.modules.activation.Sigmoid"},
            "tanh": activation("activation.Tanh"),
        }.items()
    }
    answers = {
        name: answer(model, task_input(model, "the film", "was good"))
        for name, model in models.items()
    }
    assert all(isinstance(one, ScoreAnswer) for one in answers.values())
    scores = {name: one.score for name, one in answers.items()}  # type: ignore[attr-defined]
    raw = scores["identity"]
    assert scores["none"] == scores["plain"] == scores["tanh"] == raw
    expected = torch.tensor(raw).sigmoid().item()
    assert scores["sigmoid"] == scores["old"] == pytest.approx(expected)
    said = {name: " ".join(model.notes) for name, model in models.items()}
    assert said["plain"] == said["identity"] == ""
    assert "a CrossEncoder of sentence-transformers would show its sigmoid" in said["none"]
    assert "sigmoid of the output" in said["sigmoid"]
    assert "without the activation 'Tanh'" in said["tanh"]
    again = open_task_model(models["sigmoid"].save(tmp_path / "again"), device="cpu")
    assert answer(again, task_input(again, "the film", "was good")) == answers["sigmoid"]


@opens("0 and 1 for a head with one output")
@pytest.mark.parametrize("task", ["classify", "pair", "regress"])
def test_labels_of_0_and_1_on_one_score_are_scored(task: str, tmp_path: Path) -> None:
    folder = one_output(tmp_path / "one", **activation("activation.Sigmoid"))
    model = open_task_model(folder, task=task, device="cpu")
    path = tmp_path / "a.csv"
    rows = ["the film,good,1", "the cat,was,0", "old fish,ran,true", "she,bad,0.0", "man,cat,1.0"]
    path.write_text("\n".join(["sentence1,sentence2,label", *rows]))
    run = run_file(model, path)
    metrics = run.metrics().metrics
    assert run.gold.tolist() == [1, 0, 1, 0, 1]
    assert metrics["average_precision"] == pytest.approx(
        average_precision_score(run.gold, run.predicted)
    )
    best = max(((run.predicted > cut) == run.gold).mean() for cut in [-1, *run.predicted])
    assert metrics["best_accuracy"] == pytest.approx(best)
    assert any("thresholds" in note for note in run.notes)
    found = scores_on(path, model)
    assert found.metrics == pytest.approx(metrics)
    assert set(found.notes) <= set(run.notes)


def test_scores_in_ties_are_on_one_side_of_a_threshold() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        gold = rng.integers(0, 2, 12).astype(np.float32)
        if len(set(gold)) == 1:
            continue
        predicted = rng.integers(0, 4, 12).astype(np.float32)
        found, _ = score_metrics(gold, predicted, with_intervals=False)
        theirs = average_precision_score(gold, predicted)
        assert found["average_precision"] == pytest.approx(theirs)
        best = max(((predicted >= cut) == gold).mean() for cut in (*predicted, 9))
        assert found["best_accuracy"] == pytest.approx(best)


@pytest.mark.parametrize("task", ["classify", "multilabel", None])
def test_one_label_yes_or_no_has_no_circle_of_refusals(task: str | None, tmp_path: Path) -> None:
    folder = one_output(tmp_path / "one", problem_type="multi_label_classification")
    model = open_task_model(folder, task=task, device="cpu")
    assert model.task.name == "multilabel"
    path = sheet(tmp_path / "a.csv", "1", "0", "true", "-1")
    run = run_file(model, path)
    assert run.gold.astype(int).tolist() == [[1], [0], [1]]
    told = answer(model, task_input(model, "the film"))
    assert isinstance(told, LabelsAnswer)
    assert run.predicted[0, 0] == (told.probabilities[0] > 0.5)
