"""A label of a file that stands for several of the head's: entailment or not, on three labels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
import transformers
from sklearn.metrics import confusion_matrix, f1_score

from bertcore.analysis.attribution import run_file
from bertcore.configs import Columns
from bertcore.data.labels import FileLabels, all_but_one
from bertcore.finetuning.experiment import start_experiment
from bertcore.finetuning.settings import make_settings
from bertcore.tasks import TaskModel, open_task_model, read_task_data, score_model
from tests.support.command_line import succeed
from tests.support.kit import mini
from tests.support.what_opens import opens

KNOWN = ("contradiction", "entailment", "neutral")
PLACES = ("bank", "river", "paris", "food", "waiter", "john", "smith", "cold")
PAIRS = [(f"the {a} was cold", f"our {b} lives in {a}") for a in PLACES for b in PLACES[:5]]


class Made(NamedTuple):
    """A checkpoint, and the logits of PAIRS."""

    folder: Path
    probabilities: np.ndarray


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("nli")
    model = mini(folder, num_labels=3, id2label=dict(enumerate(KNOWN)))
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    inputs = tokenizer(*map(list, zip(*PAIRS, strict=True)), return_tensors="pt", padding=True)
    with torch.no_grad():
        model.classifier.weight.mul_(60)
        model.classifier.bias -= model(**inputs).logits.mean(0)  # so that no answer is always given
        logits = model(**inputs).logits
    model.save_pretrained(folder)
    return Made(folder, logits.softmax(-1).numpy())


@pytest.fixture(scope="module")
def folder(made: Made) -> Path:
    return made.folder


@pytest.fixture(scope="module")
def model(folder: Path) -> TaskModel:
    return open_task_model(folder, task="pair", device="cpu")


@pytest.fixture(scope="module")
def probabilities(made: Made) -> np.ndarray:
    return made.probabilities


def table(path: Path, labels: list[str]) -> Path:
    rows = [f"{a}\t{b}\t{label}" for (a, b), label in zip(PAIRS, labels, strict=True)]
    path.write_text("\n".join(["sentence1\tsentence2\tgold_label", *rows]) + "\n")
    return path


@opens(
    "Labels",
    "a label for all of the checkpoint's but one",
    "`entailment`, `non-entailment` (HANS, RTE) on three labels",
    "those count as one, which is said",
)
@pytest.mark.parametrize("other", ["non-entailment", "not_entailment"])
def test_all_labels_but_one_count_as_one(
    other: str, model: TaskModel, probabilities: np.ndarray, tmp_path: Path
) -> None:
    """As HANS is scored: neutral and contradiction are answers of non-entailment."""
    labels = ["entailment", "entailment", other] * 13 + [other]
    path = table(tmp_path / "hans.txt", labels)
    gold = np.array([label == "entailment" for label in labels])
    said = probabilities.argmax(1) == 1
    assert 5 < said.sum() < len(PAIRS) - 5
    run = run_file(model, path, rows_at_once=7)
    assert run.labels == (other, "entailment")
    assert run.gold.tolist() == gold.astype(int).tolist()
    assert run.predicted.tolist() == said.astype(int).tolist()
    found = run.metrics()
    assert found.metrics["accuracy"] == pytest.approx((gold == said).mean())
    assert found.metrics["macro_f1"] == pytest.approx(f1_score(gold, said, average="macro"))
    assert found.confusion is not None
    assert found.confusion.tolist() == confusion_matrix(gold, said).tolist()
    of_answer = np.where(said, probabilities[:, 1], probabilities[:, [0, 2]].sum(1))
    assert run.confidence == pytest.approx(of_answer, abs=1e-5)
    assert {one.gold for one in run.errors} <= {other, "entailment"}
    (note,) = [note for note in run.notes if "count as one" in note]
    assert "2 of the head's 3 labels" in note
    assert f"--label-map {other}=contradiction+neutral" in note
    data = read_task_data(
        path, model.task, model.tokenizer, max_length=64, labels=model.labels, is_train=False
    )
    scores = score_model(model.module, data, model.task).scores
    assert scores.metrics == pytest.approx(found.metrics)
    assert list(scores.confusion_labels) == [other, "entailment"]
    of_gold = np.where(gold, probabilities[:, 1], probabilities[:, [0, 2]].sum(1))
    assert scores.loss == pytest.approx(-np.log(of_gold).mean(), abs=1e-4)
    assert note in data.notes


def test_a_label_map_says_which_labels_count_as_one(model: TaskModel, tmp_path: Path) -> None:
    path = table(tmp_path / "a.tsv", ["0", "1"] * 20)
    columns = Columns(label_map="0=entailment+neutral, 1=contradiction")
    run = run_file(model, path, columns=columns)
    assert run.labels == ("contradiction", "0")
    assert run.gold.tolist() == [1, 0] * 20
    assert any("'0' of the file stands for 2" in note for note in run.notes)
    both = Columns(label_map="0=entailment+neutral,1=neutral+contradiction")
    with pytest.raises(ValueError, match=r"'0' and '1' of the file both stand for 'neutral'"):
        run_file(model, path, columns=both)
    with pytest.raises(ValueError, match=r"--label-map names the label 'entailment\+other'"):
        run_file(model, path, columns=Columns(label_map="0=entailment+other"))


def test_the_rows_order_does_not_matter(model: TaskModel, tmp_path: Path) -> None:
    """The first part of a file may have labels of the head alone."""
    labels = ["entailment"] * 20 + ["non-entailment"] * 20
    run = run_file(model, table(tmp_path / "a.tsv", labels), rows_at_once=10)
    assert run.labels == ("non-entailment", "entailment")
    assert run.gold.tolist() == [1] * 20 + [0] * 20


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (("non-entailment",), KNOWN, ("contradiction", "neutral")),
        (("Entailment", "Not entailment"), KNOWN, ("contradiction", "neutral")),
        (("hate", "nothate"), ("hate", "offensive", "normal"), ("offensive", "normal")),
        (("entailment", "non-entailment"), ("entailment", "other"), ("other",)),
        # Nothing says so, or some texts are then in two labels:
        (("entailment", "neutral", "non-entailment"), KNOWN, None),
        (("non-entailment", "non-neutral"), KNOWN, None),
        (("entailment", "other"), KNOWN, None),
        (("notary",), KNOWN, None),
        (("not",), ("not sure", "sure", ""), None),
        (("non-entailment",), ("entailment",), None),
    ],
)
def test_what_stands_for_all_but_one_is_certain(
    names: tuple[str, ...], known: tuple[str, ...], expected: tuple[str, ...] | None
) -> None:
    found = all_but_one(names, known)
    assert found == ({} if expected is None else {names[-1]: expected})


def test_no_label_of_training_data_stands_for_several(folder: Path, tmp_path: Path) -> None:
    """It cannot be learned which of them a text has; as dev data they are scored."""
    halves = table(tmp_path / "rte.tsv", ["entailment", "not_entailment"] * 20)
    whole = table(tmp_path / "mnli.tsv", [*KNOWN, "neutral"] * 10)
    options = {"task": "pair", "checkpoint": str(folder), "epochs": 1, "device": "cpu"}
    with pytest.raises(ValueError, match="--new-head"):
        start_experiment(tmp_path / "a", make_settings(train=halves, dev=whole, **options))  # type: ignore[arg-type]
    experiment = start_experiment(
        tmp_path / "b",
        make_settings(train=whole, dev=halves, **options),  # type: ignore[arg-type]
    )
    assert any("count as one" in note for note in experiment.notes)
    report = experiment.run()
    assert report is not None
    assert report["labels"] == list(KNOWN)
    assert report["best"]["scores"]["confusion_labels"] == ["not_entailment", "entailment"]


def test_a_list_of_labels_has_no_such_one() -> None:
    assert FileLabels(KNOWN).several == {}
    with pytest.raises(ValueError, match="--label-map names the label"):
        FileLabels(KNOWN, {"0": "neutral+entailment"})


def test_the_command_says_so(folder: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "hans.tsv", ["entailment", "non-entailment"] * 20)
    out = succeed("evaluate", "--checkpoint", str(folder), "--task", "pair", "--data", str(path))
    assert "2 of the head's 3 labels" in " ".join(out.split())
    assert "label non-entailment" in " ".join(out.split())
