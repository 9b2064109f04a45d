"""Texts with any number of labels: files, loss, scores, answers and counterfactuals."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from bertcore import Bert
from bertcore.analysis.attribution import (
    LabelTarget,
    answer,
    find_counterfactuals,
    occlusion,
    run_file,
    task_input,
)
from bertcore.configs import Columns
from bertcore.data.examples import LabelsExample
from bertcore.training.evaluation.metrics import label_set_metrics
from bertcore.training.finetuning import resume_experiment, start_experiment
from bertcore.training.tasks import (
    LabelsAnswer,
    TaskData,
    TaskModel,
    find_task,
    open_task_model,
    read_task_data,
)
from bertcore.training.tasks.judged import Outputs
from bertcore.training.tasks.task import RowForm
from tests.support.cases import cases
from tests.support.finetuning_files import quick_settings, write_label_lists
from tests.support.rigged_models import BagOfWords, bag_of_words, random_model
from tests.support.tiny import tiny_bert

TASK = find_task("multilabel")
LABELS = ("insult", "threat", "toxic")
COLUMNS = Columns(label="insult,threat,toxic")
SHEET = "text,insult,threat,toxic\nthe film,1,0,0\nthe house,0,0,0\nthe cat,1.0,FALSE,true\n"
WORDS = {"bad": (3.0, -3.0, 0.0), "old": (0.0, 5.0, 0.0), "film": (-1.0, -1.0, -2.0)}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path, columns: Columns = Columns(), **options: object) -> TaskData:  # noqa: B008
    model = random_model("multilabel")
    return read_task_data(
        path,
        TASK,
        model.tokenizer,
        max_length=16,
        columns=columns,
        **options,  # type: ignore[arg-type]
    )


# ---- files ----


FORMS = dict(cases("label_files"))


@pytest.mark.parametrize(("name", "columns"), cases("multilabel_files"))
def test_every_form_of_file_says_the_same(
    name: str, columns: dict[str, str], tmp_path: Path
) -> None:
    data = read(write(tmp_path / name, FORMS[name]), Columns(**columns))
    says_no = name[0] in "bce"
    numbered = ("2", "3", "4")
    given = {"c.csv": numbered}.get(name, LABELS if says_no else ("insult", "toxic"))
    assert (data.labels, data.says_no) == (given, says_no)
    wanted = [[1, 0, 0], [0, 0, 0], [1, 0, 1]]
    names = data.labels if name == "c.csv" else LABELS
    full = read(tmp_path / name, Columns(**columns), labels=names)
    assert full.rows.targets.astype(int).tolist() == wanted
    batch = full.rows.batch([2, 0])
    assert batch.targets.dtype == torch.float32
    assert batch.targets.tolist() == [[1, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(("name", "text", "columns", "match"), cases("bad_label_files"))
def test_what_no_file_of_labels_holds_is_a_sentence(
    name: str, text: str, columns: dict[str, str], match: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=match):
        read(write(tmp_path / name, text), Columns(**columns))


def test_labels_that_a_checkpoint_lacks_or_that_the_file_lacks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", SHEET)
    with pytest.raises(ValueError, match=r"label 'toxic', which is not one of 'insult', 'threat'"):
        read(path, COLUMNS, labels=("insult", "threat"))
    with pytest.raises(ValueError, match=r"labels 'hate'; it has 'insult', 'threat', 'toxic'"):
        read(path, COLUMNS, labels=(*LABELS, "hate"))
    with pytest.raises(ValueError, match=r"labels 'hate'"):
        read(path, COLUMNS, labels=(*LABELS, "hate"))
    # A list of a text's labels says nothing of others, and lacks none.
    lists = write_label_lists(tmp_path / "b.tsv", 8)
    assert read(lists, labels=(*LABELS, "hate")).rows.targets.shape == (8, 4)


# ---- training ----


@pytest.mark.parametrize("held_out", [False, True])
def test_a_run_learns_its_labels_and_resumes(held_out: bool, tmp_path: Path) -> None:
    """A tiny network learns which word brings which label, from lists or from a held-out part."""
    path = write_label_lists(tmp_path / "train.tsv", 64)
    tiny, more = tiny_bert().save(tmp_path / "tiny"), {"dev": path, "epochs": 8}
    if held_out:
        more = {"held_out": 0.2}
    chosen = quick_settings(tiny, path, task="multilabel", learning_rates=[3e-3], **more)
    folder = tmp_path / "out"
    experiment = start_experiment(folder, chosen)
    assert experiment.run(should_stop=lambda: True) is None
    report = resume_experiment(folder).run()
    scores = report["best"]["scores"]
    assert report["labels"] == list(LABELS)
    assert scores["by_type"].keys() == set(LABELS)
    text = (folder / "report.md").read_text()
    assert "## Labels" in text
    assert "| micro_f1 |" in text
    model = open_task_model(folder, device="cpu")
    assert (model.task.name, model.labels) == ("multilabel", LABELS)
    if not held_out:
        assert scores["metrics"]["micro_f1"] > 0.9
        found = answer(model, task_input(model, "the bad film was old"))
        assert isinstance(found, LabelsAnswer)
        assert {LABELS[i] for i in found.given} == {"insult", "threat"}


def test_the_soft_loss_is_least_at_the_teachers_answers() -> None:
    wanted = torch.tensor([[2.0, -1.0, 0.5]])
    tokenizer = random_model("multilabel").tokenizer
    example = LabelsExample("the film", None, ("toxic",), 1)
    batch = TASK.rows([example], tokenizer, RowForm(8, LABELS)).rows.batch([0])
    ours = wanted.clone().requires_grad_()
    TASK.soft_loss(ours, wanted, batch, 2.0).backward()
    torch.testing.assert_close(ours.grad, torch.zeros_like(wanted))
    p = torch.sigmoid(wanted / 2)
    entropy = -(p * p.log() + (1 - p) * (1 - p).log()).sum() * 4
    torch.testing.assert_close(TASK.soft_loss(wanted, wanted, batch, 2.0), entropy)
    # As large as those of hard labels, whatever the temperature is.
    small = torch.zeros(1, 3, requires_grad=True)
    TASK.soft_loss(small, wanted / 100, batch, 50.0).backward()
    plain = torch.zeros(1, 3, requires_grad=True)
    F.binary_cross_entropy_with_logits(
        plain, torch.sigmoid(wanted / 100), reduction="sum"
    ).backward()
    torch.testing.assert_close(small.grad, plain.grad, rtol=1e-3, atol=1e-6)


# ---- scores ----

TRUTHS = st.tuples(st.integers(1, 20), st.integers(2, 4)).flatmap(
    lambda shape: st.tuples(*[arrays.arrays(np.bool_, shape)] * 2)
)


@settings(deadline=None)  # the first call imports scikit-learn
@given(TRUTHS)
def test_metrics_equal_scikit_learns(truths: tuple[np.ndarray, np.ndarray]) -> None:  # type: ignore[type-arg]
    gold, predicted = truths
    names = [str(i) for i in range(gold.shape[1])]
    metrics, intervals, by_label = label_set_metrics(gold, predicted, names, with_intervals=False)
    assert intervals == {}
    assert metrics == pytest.approx(
        {
            "micro_f1": f1_score(gold, predicted, average="micro", zero_division=0),
            "macro_f1": f1_score(gold, predicted, average="macro", zero_division=0),
            "accuracy": accuracy_score(gold, predicted),
        }
    )
    expected = precision_recall_fscore_support(gold, predicted, average=None, zero_division=0)
    for i, name in enumerate(names):
        assert list(by_label[name].values()) == pytest.approx([part[i] for part in expected])


def test_scores_and_predictions_of_a_model_that_adds_up_words(tmp_path: Path) -> None:
    model = bag_of_words(WORDS, task="multilabel", labels=LABELS)
    rows = ["the bad film,insult|toxic", "the old house,threat", "the film,", "the bad film,insult"]
    path = write(tmp_path / "a.csv", "\n".join(["text,labels", *rows]))
    data = read_task_data(path, TASK, model.tokenizer, max_length=16, labels=LABELS)
    batch = data.rows.batch(range(4))
    logits = model.module(batch.input_ids, batch.segment_ids, batch.attention_mask)
    loss = float(TASK.loss(logits, batch.targets))
    outputs = Outputs(np.arange(4), logits.numpy(), loss, 12.0)
    scored = TASK.score([outputs], data, in_full=True)
    assert scored.scores.loss == pytest.approx(loss)
    first = scored.predictions[0]
    assert (first["gold"], first["predicted"]) == (["insult", "toxic"], ["insult"])
    p = 1 / (1 + np.exp(-np.array([2.0, -4.0, -2.0])))
    assert list(first["probabilities"].values()) == pytest.approx(p, abs=1e-6)
    assert first["confidence"] == pytest.approx(p[0] * (1 - p[1]) * (1 - p[2]), abs=1e-6)
    # The second row: "old" alone says threat; the others are 0, which is not more than one half.
    assert [line["predicted"] for line in scored.predictions[1:]] == [["threat"], [], ["insult"]]
    assert scored.scores.metrics["accuracy"] == 0.75
    assert scored.scores.by_type["toxic"] == {"precision": 0, "recall": 0, "f1": 0, "number": 1}
    found = run_file(model, path, rows_at_once=3)
    assert [(one.gold, one.predicted) for one in found.errors] == [("insult | toxic", "insult")]
    assert found.quality.tolist() == pytest.approx([2 / 3, 1, 1, 1])
    assert {one.name: one.number for one in found.slices_by_label()} == {
        "insult": 2,
        "threat": 1,
        "toxic": 1,
    }
    calibrated = found.calibration()
    assert sum(each.number for each in calibrated.bins) == 4


# ---- answers ----


def rigged() -> tuple[TaskModel, Bert]:
    return bag_of_words(WORDS, task="multilabel", labels=LABELS), tiny_bert()


def test_a_target_is_the_logit_and_its_sigmoid() -> None:
    model, _ = rigged()
    source = task_input(model, "the bad film")
    found = answer(model, source)
    assert isinstance(found, LabelsAnswer)
    assert [LABELS[i] for i in found.given] == ["insult"]
    assert found.target(source) == LabelTarget(0)
    logits = torch.tensor([[2.0, -4.0, -2.0]])
    assert LabelTarget(1).value(logits).tolist() == [-4.0]
    assert LabelTarget(1, is_given=False).value(logits).tolist() == [4.0]
    for target in (LabelTarget(1), LabelTarget(1, is_given=False)):
        value, p = target.value(logits), target.measure(logits)
        torch.testing.assert_close((p / (1 - p)).log(), value)
    importance = occlusion(model, source, LabelTarget(0)).importance
    assert importance[source.text_words].tolist() == pytest.approx([0, 3, -1])


@pytest.mark.parametrize(("label", "before"), [(0, True), (1, False)])
def test_counterfactuals_turn_the_answer_for_one_label(label: int, before: bool) -> None:
    """From yes to no, or from no to yes, by swapping the one word that decides it."""
    model, proposer = rigged()
    assert isinstance(model.module, BagOfWords)
    model.module.says[:, 1] = 1.0
    model.module.says[model.tokenizer.token_to_id("film"), 1] = -20.0
    text = "the bad film was"
    first = answer(model, task_input(model, text))
    assert isinstance(first, LabelsAnswer)
    assert (label in first.given) is before
    found = find_counterfactuals(model, text, proposer=proposer, label=label)
    assert found.counterfactuals
    for one in found.counterfactuals:
        assert isinstance(one.answer, LabelsAnswer)
        assert (label in one.answer.given) is not before
        assert one.measure <= 0.5
        assert [swap.before for swap in one.swaps] == ["bad" if before else "film"]
