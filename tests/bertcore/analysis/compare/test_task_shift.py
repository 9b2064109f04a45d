"""Task heads before and after a change: equal to transformers with the same heads zeroed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from bertcore import Bert, load
from bertcore.analysis.compare.task_shift import TaskShift, compare_task
from bertcore.analysis.heads.importance import rank_heads
from bertcore.model.interventions import Changes, every_head
from bertcore.model.network.task_reader import TaskReader
from bertcore.training.tasks.model import read_task_head
from tests.support.rigged_models import started
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import LABELS, SHAPES, make_task, zero_heads

A, B = "the river bank was steeped", "it had rained"
OFF = [(0, 1), (1, 3)]


def opened(folder: Path) -> tuple[Bert, TaskReader]:
    bert = load(folder, device="cpu")
    reader = read_task_head(bert)
    assert reader is not None
    return bert, reader


def shift(bert: Bert, reader: TaskReader, heads: list[tuple[int, int]]) -> TaskShift:
    changes = Changes(heads_off=frozenset(heads))
    return compare_task(bert, reader, bert.trace(A, B), bert.trace(A, B, changes=changes))


@torch.no_grad()
def theirs(model: PreTrainedModel, bert: Bert):  # type: ignore[no-untyped-def]
    encoding = bert.tokenize(A, B)
    inputs = {"input_ids": torch.tensor([encoding.input_ids])}
    if bert.config.type_vocab_size:
        inputs["token_type_ids"] = torch.tensor([encoding.segment_ids])
    return model(**inputs)


@pytest.mark.parity
@pytest.mark.parametrize("model_type", SHAPES)
def test_class_probabilities_equal_transformers_with_the_heads_zeroed(
    model_type: str, tmp_path: Path
) -> None:
    model = make_task(tmp_path, model_type=model_type)
    bert, reader = opened(tmp_path)
    assert (reader.kind, reader.labels) == ("classes", LABELS)
    # ALBERT's layers share their weights: a head is zeroed in all of them.
    heads = OFF if model_type != "albert" else [(layer, 1) for layer in range(3)]
    found = shift(bert, reader, heads)
    before = theirs(model, bert).logits.softmax(-1)
    zero_heads(model, heads)
    after = theirs(model, bert).logits.softmax(-1)
    np.testing.assert_allclose(found.before, before, atol=1e-5)
    np.testing.assert_allclose(found.after, after, atol=1e-5)
    assert np.abs(found.after - found.before).max() > 1e-3  # the heads do something
    expected = (before * (before / after).log()).sum()
    assert found.divergence[0] == pytest.approx(float(expected), abs=1e-5)
    assert (found.choices, found.names, found.positions) == (LABELS, ("",), (None,))


@pytest.mark.parity
@pytest.mark.parametrize("model_type", SHAPES)
def test_tags_and_spans_equal_transformers(model_type: str, tmp_path: Path) -> None:
    heads = OFF if model_type != "albert" else [(layer, 1) for layer in range(3)]
    model = make_task(tmp_path / "tags", "TokenClassification", model_type)
    bert, reader = opened(tmp_path / "tags")
    found = shift(bert, reader, heads)
    assert (reader.kind, found.choices) == ("tags", LABELS)
    positions = list(found.positions)
    assert 0 not in positions
    assert " ".join(found.names) == f"{A} {B}"  # whole words, not their first pieces
    before = theirs(model, bert).logits[0].softmax(-1)[positions]
    zero_heads(model, heads)
    after = theirs(model, bert).logits[0].softmax(-1)[positions]
    np.testing.assert_allclose(found.before, before, atol=1e-5)
    np.testing.assert_allclose(found.after, after, atol=1e-5)
    assert found.changed() == (before.argmax(-1) != after.argmax(-1)).nonzero()[:, 0].tolist()

    model = make_task(tmp_path / "span", "QuestionAnswering", model_type, ("a", "b"))
    bert, reader = opened(tmp_path / "span")
    found = shift(bert, reader, heads)
    assert (found.kind, found.names) == ("span", ("start", "end"))
    assert found.choices == tuple(bert.trace(A, B).tokens)
    zero_heads(model, heads)
    out = theirs(model, bert)
    expected = torch.stack([out.start_logits[0], out.end_logits[0]]).softmax(-1)
    np.testing.assert_allclose(found.after, expected, atol=1e-5)


@pytest.mark.parity
def test_several_labels_at_once_and_a_score(tmp_path: Path) -> None:
    multi = {"problem_type": "multi_label_classification"}
    model = make_task(tmp_path / "labels", **multi)
    bert, reader = opened(tmp_path / "labels")
    found = shift(bert, reader, OFF)
    p = theirs(model, bert).logits.sigmoid()[0]
    zero_heads(model, OFF)
    q = theirs(model, bert).logits.sigmoid()[0]
    np.testing.assert_allclose(found.before[0], p, atol=1e-5)
    np.testing.assert_allclose(found.after[0], q, atol=1e-5)
    expected = (p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).sum()
    assert found.divergence[0] == pytest.approx(float(expected), abs=1e-4)

    model = make_task(tmp_path / "score", labels=("score",))
    bert, reader = opened(tmp_path / "score")
    found = shift(bert, reader, OFF)
    assert (found.kind, found.choices, found.changed()) == ("score", ("score",), [])
    assert np.isnan(found.divergence).all()
    zero_heads(model, OFF)
    assert found.after.item() == pytest.approx(theirs(model, bert).logits.item())


@pytest.mark.parametrize(
    ("task", "labels", "more"),
    [
        ("SequenceClassification", LABELS, {}),
        ("SequenceClassification", LABELS, {"problem_type": "multi_label_classification"}),
        ("SequenceClassification", ("score",), {}),
        ("TokenClassification", LABELS, {}),
        ("QuestionAnswering", ("a", "b"), {}),
    ],
)
def test_the_ranking_is_that_of_single_removals(
    task: str, labels: tuple[str, ...], more: dict[str, str], tmp_path: Path
) -> None:
    make_task(tmp_path, task, labels=labels, **more)
    bert, reader = opened(tmp_path)
    changes = Changes(heads_off=frozenset({(2, 2)}))
    found = rank_heads(bert, A, B, changes=changes)
    before = bert.trace(A, B, changes=changes)
    place = reader.labels.index(found.chosen_label) if found.chosen_label else 0
    for layer, head in every_head(bert.config):
        if (layer, head) in changes.heads_off:
            assert all(np.isnan(getattr(found, name)[layer, head]) for name in found.measures())
            continue
        off = replace(changes, heads_off=changes.heads_off | {(layer, head)})
        one = compare_task(bert, reader, before, bert.trace(A, B, changes=off))
        if found.label is not None:
            change = one.after[0, place] - one.before[0, place]
            assert found.label[layer, head] == pytest.approx(change, abs=1e-5)
        if found.answer is not None:
            whole = one.divergence.mean() if task.startswith("Token") else one.divergence.sum()
            assert found.answer[layer, head] == pytest.approx(whole, abs=1e-5)
    expected = {"tags": ("answer",), "span": ("answer",), "score": ("label",)}
    assert found.measures() == (*expected.get(reader.kind, ("label", "answer")), "hidden")
    assert found.strongest(found.measures()[0])[0][2] != 0


def test_a_label_is_followed_by_name(tmp_path: Path) -> None:
    make_task(tmp_path)
    bert, reader = opened(tmp_path)
    found = [rank_heads(bert, A, label=name) for name in LABELS]
    assert [each.chosen_label for each in found] == list(LABELS)
    changes = [each.label for each in found if each.label is not None]
    np.testing.assert_allclose(sum(changes), 0, atol=1e-5)  # probabilities sum to 1
    best = rank_heads(bert, A).chosen_label
    trace = bert.trace(A)
    assert best == LABELS[int(compare_task(bert, reader, trace, trace).before.argmax())]
    with pytest.raises(
        ValueError, match=r"'x' is not a label to follow; this checkpoint has 'bad'"
    ):
        rank_heads(bert, A, label="x")


def test_a_checkpoint_of_ours_is_read_too(tmp_path: Path) -> None:
    pretrained = tiny_bert().save(tmp_path / "tiny")
    model = started(pretrained, labels=("no", "yes"))
    bert, reader = opened(model.save(tmp_path / "tuned"))
    encoding = bert.tokenize(A, B)
    ids, segments = (torch.tensor([x]) for x in (encoding.input_ids, encoding.segment_ids))
    with torch.no_grad():
        expected = model.module(ids, segments).softmax(-1)
    found = shift(bert, reader, OFF)
    np.testing.assert_allclose(found.before, expected, atol=1e-6)
    assert read_task_head(load(pretrained, device="cpu")) is None


def rewrite(folder: Path, old: str, new: str) -> None:
    config = folder / "config.json"
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def test_heads_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    make_task(tmp_path, "MultipleChoice")
    with pytest.raises(ValueError, match="multiple-choice head compares several texts"):
        opened(tmp_path)
    rewrite(tmp_path, "BertForMultipleChoice", "MyOwnClass")
    model, _ = opened(tmp_path)
    assert "names the class MyOwnClass; its tensors were read as" in str(model.report.task.note)
    rewrite(tmp_path, "MyOwnClass", "BertForQuestionAnswering")
    with pytest.raises(ValueError, match=r"Its class also has qa_outputs\.weight"):
        opened(tmp_path)
    broken = make_task(tmp_path)
    broken.classifier.bias.data[1] = torch.nan
    broken.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="task head contains NaN or infinity"):
        opened(tmp_path)
