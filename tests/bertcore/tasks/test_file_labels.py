"""Labels of files as people have them: no label, numbers, spellings, lists, and other orders."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score

from bertcore.analysis.attribution import answer, run_file, task_input
from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.data.labels import FileLabels, read_label_map
from bertcore.evaluation.answer_notes import assignment_notes, better_assignment
from bertcore.evaluation.metrics import score_metrics
from bertcore.finetuning.experiment import start_experiment
from bertcore.finetuning.settings import make_settings
from bertcore.network.task_heads import TaskNetwork, initialize_head
from bertcore.tasks import (
    TASKS,
    LabelsAnswer,
    ScoreAnswer,
    TaskModel,
    find_task,
    open_task_model,
    read_task_data,
    score_model,
    start_task_model,
)
from bertcore.tasks.read import read_examples, survey
from tests.support.rigged_models import bag_of_words
from tests.support.tiny import tiny_bert, tiny_network, tiny_tokenizer
from tests.support.what_opens import opens


def lines(path: Path, labels: list[object], *, text: str = "the film") -> Path:
    """Write JSON lines with these labels."""
    path.write_text("".join(json.dumps({"text": text, "label": one}) + "\n" for one in labels))
    return path


def sheet(path: Path, *cells: str, header: str = "text,label") -> Path:
    path.write_text("\n".join([header, *(f"the film,{cell}" for cell in cells)]) + "\n")
    return path


def labels_of(path: Path, task: str = "classify", **columns: str) -> tuple[list[object], list[str]]:
    """Return the labels of a file's examples and its notes."""
    bad = BadRows()
    found = read_examples(path, find_task(task), columns=Columns(**columns), bad_rows=bad)
    given = [one.labels if task == "multilabel" else one.labels[0] for one in found]
    return given, bad.notes()


# ---- no label ----


@opens(
    "Labels", "no label", "an empty cell, `-`, `-1`, `-100`, `NaN`, `null`", "left out and counted"
)
@pytest.mark.parametrize(
    "mark", [None, float("nan"), "", "-", -1, -100, "NaN", "null", "<NA>", -1.0]
)
def test_examples_without_a_label_are_left_out_and_counted(mark: object, tmp_path: Path) -> None:
    given, notes = labels_of(lines(tmp_path / "a.jsonl", [0, 1, 2, mark, 0]))
    assert given == ["0", "1", "2", "0"]
    assert len(notes) == 1
    assert "1 example has no label and was left out" in notes[0]


@pytest.mark.parametrize("known", [("LABEL_0", "LABEL_1"), ("NEGATIVE", "POSITIVE")])
def test_they_are_no_class_of_a_checkpoint(known: tuple[str, str], tmp_path: Path) -> None:
    model = bag_of_words({"film": (0.0, 3.0)}, labels=known)
    path = sheet(tmp_path / "a.csv", "0.0", "1.0", "", "nan", "-1", "1.0")
    run = run_file(model, path)
    assert run.gold.tolist() == [0, 1, 1]
    assert "3 examples have no label and were left out (2 empty, 1 -1)." in run.notes
    data = read_task_data(path, model.task, model.tokenizer, max_length=16, labels=known)
    assert (data.rows.targets.tolist(), data.notes) == ([0, 1, 1], run.notes[:2])


@opens(
    "Labels", "marks that are classes", "`-1` beside `1`; `-` beside `+`", "classes, which is said"
)
@pytest.mark.parametrize(
    "labels", [["-1", "1"] * 3, ["-1", "0", "1"] * 3, ["-2", "-1", "0", "1", "2"], ["+", "-"] * 2]
)
def test_marks_that_are_classes(labels: list[str], tmp_path: Path) -> None:
    given, notes = labels_of(sheet(tmp_path / "a.csv", *labels))
    assert given == [label.replace("+1", "1") for label in labels]
    if "-1" in labels:
        assert "'-1'" in notes[0]
        assert "--label-map=-1=" in notes[0]
        assert "-1" not in labels_of(tmp_path / "a.csv", label_map="-1=")[0]


def test_a_rare_mark_beside_two_classes_is_no_third(tmp_path: Path) -> None:
    assert set(labels_of(sheet(tmp_path / "a.csv", *["0", "1"] * 20, "-1"))[0]) == {"0", "1"}


def test_a_file_without_any_label_says_so(tmp_path: Path) -> None:
    """Test splits of GLUE."""
    path = sheet(tmp_path / "a.csv", *["-1"] * 5)
    model = bag_of_words({"film": (0.0, 3.0)})
    with pytest.raises(ValueError, match=r"5 have no label \(-1\), as in test splits"):
        run_file(model, path)
    settings = make_settings(
        task="classify",
        train=path,
        dev=path,
        checkpoint=str(tiny_bert().save(tmp_path / "tiny")),
        epochs=1,
        device="cpu",
    )
    with pytest.raises(ValueError, match=r"5 have no label \(-1\)"):
        start_experiment(tmp_path / "out", settings)


def test_scores_without_a_number_are_left_out(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", [1.5, None, float("nan"), 2, True])
    found = list(read_examples(path, find_task("regress"), bad_rows=BadRows()))
    assert [one.answer for one in found] == ["1.5", "2", "1"]  # type: ignore[attr-defined]


# ---- spellings ----


@opens("Labels", "numbers in several spellings", "`1`, `1.0`, `true`", "one label")
def test_numbers_are_one_label_however_they_are_written(tmp_path: Path) -> None:
    assert labels_of(lines(tmp_path / "a.jsonl", [1, 1.0, "1", "1.0", True, False, 0]))[0] == [
        *["1"] * 5,
        *["0"] * 2,
    ]
    assert labels_of(sheet(tmp_path / "b.csv", "True", "False"))[0] == ["True", "False"]


@opens("Labels", "numbers as labels", "`1.0` to `10.0`", "in the order of numbers")
def test_numbers_are_in_order(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.csv", *(f"{i}.0" for i in (10, 2, 1, 3, 9, 4, 5, 6, 7, 8)))
    data = read_task_data(path, find_task("classify"), tiny_tokenizer(), max_length=16)
    assert data.labels == tuple(map(str, range(1, 11)))


@opens("Labels", "two spellings", "`Positive`, `positive`", "two labels; how to make them one")
def test_two_spellings_of_a_class_are_remarked(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.csv", "Positive", "positive", "Positive", "NEGATIVE")
    given, [note] = labels_of(path)
    assert set(given) == {"Positive", "positive", "NEGATIVE"}
    assert "'Positive' (2) and 'positive' (1) differ only in spelling" in note
    assert "--label-map positive=Positive" in note
    assert set(labels_of(path, label_map="positive=Positive")[0]) == {"Positive", "NEGATIVE"}
    assert survey(path, "classify").notes == (note,)


@opens(
    "Labels",
    "other names",
    "`--label-map 0=good,1=bad,2=`",
    "as told; an empty name leaves rows out",
)
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
    assert any("'x', which is no label" in n for n in labels_of(path, label_map="x=y")[1])


# ---- lists ----


@opens(
    "Labels",
    "a flag for each label",
    "`[0, 1, 0]`",
    "several labels a text, by the ids of the checkpoint",
)
@pytest.mark.parametrize("is_text", [False, True])
def test_cells_with_a_flag_for_each_label(is_text: bool, tmp_path: Path) -> None:
    flags = [[0, 1, 0], [1.0, 0.0, 1.0], [0, 0, 0]]
    path = lines(tmp_path / "a.jsonl", [str(one) if is_text else one for one in flags])
    model = bag_of_words({"film": (3.0, -3.0, 3.0)}, task="multilabel", labels=("x", "y", "z"))
    run = run_file(model, path)
    assert run.gold.astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
    assert "'0' is 'x', '1' is 'y', '2' is 'z'" in run.notes[0]


def test_ids_in_lists_are_those_of_the_checkpoint(tmp_path: Path) -> None:
    """GoEmotions: 2,18."""
    model = bag_of_words({"film": (3.0, -3.0, 3.0)}, task="multilabel", labels=("x", "y", "z"))
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabels\nthe film\t0,2\nthe cat\t1\nthe dog\t2\n")
    assert run_file(model, path).gold.astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 1]]


@opens("Labels", "rows that nobody judged", "`-1,-1` in columns of 0 and 1", "left out and counted")
def test_rows_that_nobody_judged_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("text,toxic,threat\nx,1,0\ny,-1,-1\nz,,\nw,0.0,1.0\n")
    given, notes = labels_of(path, "multilabel", label="toxic,threat")
    assert given == [("toxic",), ("threat",)]
    assert notes == ["2 examples have no label and were left out (1 -1, 1 empty)."]


# ---- equal names ----


@opens(
    "Labels",
    "two outputs of one name",
    '`{"0": "pos", "1": "pos"}`',
    "apart by their ids; a file that says `pos` is refused",
)
def test_outputs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    model = start_task_model(
        tiny_bert().save(tmp_path / "tiny"),
        task="classify",
        labels=("a", "b", "c"),
        generator=torch.Generator().manual_seed(1),
    )
    folder = model.save(tmp_path / "out")
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {"0": "pos", "1": "pos", "2": None}
    config["label2id"] = {"pos": 1}
    (folder / "config.json").write_text(json.dumps(config))
    opened = open_task_model(folder, device="cpu")
    assert opened.labels == ("pos (id 0)", "pos (id 1)", " (id 2)")
    (note,) = [n for n in opened.notes if n.startswith("2 outputs of the head")]
    assert "have the name 'pos' (ids 0, 1)" in note
    assert note.endswith("in a file too: 'pos (id 0)'.")
    for name in ("0,1,2".split(","), ["pos (id 0)", "pos (id 1)", " (id 2)"]):
        path = lines(tmp_path / "a.jsonl", [*name])
        data = read_task_data(
            path, opened.task, opened.tokenizer, max_length=16, labels=opened.labels
        )
        assert data.rows.targets.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"the label 'pos', which is not one of 'pos \(id 0\)'"):
        run_file(opened, sheet(tmp_path / "b.csv", "pos", "pos"))


@opens(
    "Labels",
    "`label2id` against `id2label`",
    '`{"no": 1}`, `{"0": "no"}`',
    "`id2label` counts, which is said",
)
def test_label2id_against_id2label_is_said(tmp_path: Path) -> None:
    model = start_task_model(
        tiny_bert().save(tmp_path / "tiny"),
        task="classify",
        labels=("no", "yes"),
        generator=torch.Generator().manual_seed(1),
    )
    folder = model.save(tmp_path / "out")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "label2id": {"no": 1, "yes": 0}}))
    opened = open_task_model(folder, device="cpu")
    assert opened.labels == ("no", "yes")
    assert any("label2id gives 'no' the id 1, id2label the id 0" in note for note in opened.notes)
    assert opened.notes[0] in run_file(opened, sheet(tmp_path / "a.csv", "no", "yes")).notes
    del config["id2label"]
    (folder / "config.json").write_text(json.dumps(config))
    assert "label2id ('no', 'yes') but no id2label" in open_task_model(folder).notes[0]


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


@opens(
    "Labels",
    "labels in another order",
    "nearly all answers right under another assignment",
    "said, with its probability by chance and the `--label-map`",
)
def test_labels_in_another_order_are_said_with_the_chance(tmp_path: Path) -> None:
    model = bag_of_words(ANSWERS, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    path = shuffled(tmp_path / "a.csv", (2, 0, 1))
    run = run_file(model, path)
    assert not run.right.any()
    note = run.notes[-1]
    assert "of 54 answers 0 are right, but 54 would be" in note
    assert "'LABEL_2' is 'LABEL_0'" in note
    assert "less than once in 10^2" in note
    data = read_task_data(path, model.task, model.tokenizer, max_length=16, labels=model.labels)
    module = model.module  # `score_model` runs encoder and head apart
    module.encode, module.read = module.forward, lambda logits, *rest: logits  # type: ignore[assignment, method-assign]
    assert score_model(module, data, model.task).scores.notes == (note,)
    label_map = note.split("--label-map ")[1].split(";")[0]
    again = run_file(model, path, columns=Columns(label_map=label_map))
    assert again.right.all()
    assert "another order" not in " ".join(again.notes)


def test_two_of_three_in_another_order_are_said(tmp_path: Path) -> None:
    """MNLI: contradiction first or last."""
    model = bag_of_words(ANSWERS, labels=("contradiction", "neutral", "entailment"))
    note = run_file(model, shuffled(tmp_path / "a.csv", (2, 1, 0))).notes[-1]
    assert "of 36 answers 0 are right, but 36 would be" in note
    assert "'entailment' is 'contradiction'" in note


@pytest.mark.parametrize("num", [1, 2])
def test_few_examples_prove_nothing(num: int, tmp_path: Path) -> None:
    model = bag_of_words(ANSWERS, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    notes = run_file(model, shuffled(tmp_path / "a.csv", (2, 0, 1), num=num)).notes
    assert not any("another order" in note for note in notes)


def test_copies_of_a_text_prove_nothing(tmp_path: Path) -> None:
    model = bag_of_words(ANSWERS, labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    path = tmp_path / "a.csv"
    rows = [f"the {word},{(i + 1) % 3}" for i, word in enumerate(ANSWERS)] * 40
    path.write_text("\n".join(["text,label", *rows]))
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
    config = json.loads((folder / "config.json").read_text())
    for name in ("problem_type", "bertscope"):
        del config[name]
    (folder / "config.json").write_text(json.dumps({**config, **fields}))
    return folder


def activation(name: str) -> dict[str, object]:
    return {"sentence_transformers": {"activation_fn": f"torch.nn.modules.{name}"}}


@opens(
    "Labels",
    "a cross-encoder's activation",
    '`"activation_fn": "...Sigmoid"`',
    "the score of sentence-transformers",
)
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


@opens(
    "Labels",
    "0 and 1 for a head with one output",
    "`--task pair`, `--task regress`",
    "average precision, and accuracy and F1 at the best thresholds",
)
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
    data = read_task_data(path, model.task, model.tokenizer, max_length=16, is_train=False)
    found = score_model(model.module, data, model.task).scores
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


# ---- the whole column ----


@opens(
    "Labels", "a column that numbers the rows", "`id` as label", "refused: each label occurs once"
)
def test_a_column_that_numbers_the_rows_is_named(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.csv", *(f"id{i}" for i in range(30)))
    for options in ({"dev": path}, {"dev": None, "held_out": 0.1}):
        settings = make_settings(
            task="classify",
            train=path,
            checkpoint=str(tiny_bert().save(tmp_path / "tiny")),
            epochs=1,
            device="cpu",
            **options,  # type: ignore[arg-type]
        )
        with pytest.raises(ValueError, match=r"each of the 30 labels .* occurs once"):
            start_experiment(tmp_path / "out", settings)


def test_more_names_than_labels_stay_as_they_are() -> None:
    labels = FileLabels()
    labels.survey(Counter({f"name {i}": 1 for i in range(2000)}))
    assert labels.names["name 7"] == "name 7"


def test_a_fine_tuning_keeps_a_head_for_other_schemes_and_numbers(tmp_path: Path) -> None:
    """The same reading as evaluate's: ids for names, and entities in the head's tags."""
    start = tiny_bert().save(tmp_path / "tiny")
    model = start_task_model(
        start,
        task="tag",
        labels=("O", "B-PER", "E-PER", "I-PER", "S-PER"),
        generator=torch.Generator().manual_seed(1),
    )
    train = tmp_path / "a.txt"
    train.write_text("the O\nman I-PER\ncat I-PER\n\nfish I-PER\nran O\n\n" * 6)
    settings = make_settings(
        task="tag",
        train=train,
        dev=train,
        checkpoint=str(model.save(tmp_path / "tagger")),
        epochs=1,
        device="cpu",
    )
    experiment = start_experiment(tmp_path / "out", settings)
    assert experiment.train.labels == model.labels
    assert any("the checkpoint has BIOES" in note for note in experiment.notes)
    report = experiment.run()
    assert report is not None
    assert report["labels"] == list(model.labels)
