"""Decisions against transformers' logits, layer by layer; what two checkpoints share."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertcore import Bert, Tokenizer, Trace, load, untrained
from bertcore.analysis import (
    Decisions,
    compare_answers,
    compare_heads,
    compare_layers,
    compare_text,
    head_in_both,
    open_decisions,
    questions,
    weight_drift,
)
from bertcore.analysis.compare.checkpoints import MOST_ANSWERS, AnswerRow, _rows, limits
from bertcore.analysis.compare.decision import (
    NEXT_LABELS,
    LayerDecisions,
    layer_decisions,
    settling_layer,
)
from bertcore.data import Sentence
from tests.support.rigged_models import LABELS, save_task_checkpoint
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary
from tests.support.tiny_others import make_other

A, B = "the film was very good", "she sat on the mat"
MASKED = "the [MASK] was on the [MASK]"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("checkpoints")
    tasks = ("classify", "regress", "tag", "qa", "choice")
    found = {task: save_task_checkpoint(folder / task, task) for task in tasks}
    return {**found, "start": tiny_bert().save(folder / "start")}


def opened(folder: Path) -> tuple[Bert, Decisions]:
    bert = load(folder, device="cpu")
    return bert, open_decisions(bert, folder)


def theirs(kind: str, folder: Path, trace: Trace) -> Any:
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    ids, segments = (torch.tensor([row]) for row in (trace.input_ids, trace.segment_ids))
    with torch.no_grad():
        return model, model(input_ids=ids, token_type_ids=segments, output_hidden_states=True)


def test_a_class_at_each_layer_is_transformers(folders: dict[str, Path]) -> None:
    bert, decisions = opened(folders["classify"])
    trace = bert.trace(A, B)
    model, out = theirs("BertForSequenceClassification", folders["classify"], trace)
    decision = decisions.of("class")
    assert decision is not None
    found = layer_decisions(decision, trace, bert.device)
    assert found.names == LABELS["classify"]
    assert found.logits.shape == (3, 1, 3)
    np.testing.assert_allclose(found.logits[-1, 0], out.logits[0].numpy(), atol=1e-5)
    for layer, state in enumerate(out.hidden_states):
        with torch.no_grad():
            expected = model.classifier(model.bert.pooler(state))[0].numpy()
        np.testing.assert_allclose(found.logits[layer, 0], expected, atol=1e-5)
    np.testing.assert_allclose(found.probabilities.sum(-1), 1, atol=1e-5)
    assert found.final == [LABELS["classify"][int(out.logits.argmax())]]
    same = [bool(a == found.answers[-1, 0]) for a in found.answers[:, 0]]
    assert found.settled == (settling_layer(found.answers[:, 0].tolist()),)
    assert all(same[found.settled[0] :])  # type: ignore[misc]


@pytest.mark.parametrize(
    ("task", "kind", "model"),
    [
        ("regress", "score", "BertForSequenceClassification"),
        ("tag", "tag", "BertForTokenClassification"),
        ("qa", "span", "BertForQuestionAnswering"),
    ],
)
def test_other_heads_are_transformers(
    folders: dict[str, Path], task: str, kind: str, model: str
) -> None:
    bert, decisions = opened(folders[task])
    decision = decisions.of(kind)
    assert decision is not None
    assert decisions.no_task == ""
    trace = bert.trace(A, B)
    found = layer_decisions(decision, trace, bert.device)
    _, out = theirs(model, folders[task], trace)
    if kind == "span":
        inside = [i for i, text in enumerate(trace.text_ids) if text == 1]
        for place, logits in enumerate((out.start_logits, out.end_logits)):
            np.testing.assert_allclose(
                found.logits[-1, place][inside], logits[0, inside].numpy(), atol=1e-5
            )
            assert found.answers[-1, place] == inside[int(logits[0, inside].argmax())]
        assert len(set(found.names)) == trace.num_tokens  # "the" is there twice
        return
    np.testing.assert_allclose(
        found.logits[-1], out.logits.reshape(found.logits[-1].shape), atol=1e-5
    )
    if kind == "score":
        assert found.settled == (None,)
        np.testing.assert_array_equal(found.probabilities, found.logits)
    else:
        assert len(found.places) == trace.num_tokens


def test_pretraining_heads_are_transformers(folders: dict[str, Path]) -> None:
    bert, decisions = opened(folders["start"])
    assert [decision.kind for decision in decisions.available] == ["next", "word"]
    assert "no task head" in decisions.no_task
    trace = bert.trace(MASKED, B)
    _, out = theirs("BertForPreTraining", folders["start"], trace)
    following, word = (decisions.of(kind) for kind in ("next", "word"))
    found = layer_decisions(following, trace, bert.device)
    np.testing.assert_allclose(found.logits[-1, 0], out.seq_relationship_logits[0], atol=1e-5)
    assert found.names == NEXT_LABELS
    words = layer_decisions(word, trace, bert.device)
    assert words.places == (2, 6)
    expected = out.prediction_logits[0, [2, 6]]
    np.testing.assert_allclose(words.logits[-1], expected, atol=1e-5)
    alone = bert.trace(A)
    assert not following.applies_to(alone)
    assert not word.applies_to(alone)
    with pytest.raises(ValueError, match="a pair of texts"):
        layer_decisions(following, alone, bert.device)


def test_heads_that_read_several_things_say_so(folders: dict[str, Path]) -> None:
    _, decisions = opened(folders["choice"])
    assert decisions.available == ()
    assert "several texts at once" in decisions.no_task


def test_a_missing_head_is_borrowed(folders: dict[str, Path]) -> None:
    (first, one), (second, two) = opened(folders["start"]), opened(folders["classify"])
    asked = questions(first, second, (one, two))
    assert [(q.kind, q.borrower, q.same_answers) for q in asked] == (
        [("class", 0, True), ("next", 1, True), ("word", 1, True)]
    )
    traces = (first.trace(MASKED, B), second.trace(MASKED, B))
    found = compare_text(first, second, traces, asked)
    assert [question.kind for question, _, _ in found.answers] == ["class", "next", "word"]
    _, borrowed, own = found.answers[0]
    assert own is not None
    decision = two.of("class")
    assert decision is not None
    expected = layer_decisions(decision, traces[0], second.device)
    np.testing.assert_array_equal(borrowed.logits, expected.logits)
    # A single text without [MASK] poses no question to the pretraining heads.
    single = (first.trace(A), second.trace(A))
    assert [q.kind for q, _, _ in compare_text(first, second, single, asked).answers] == ["class"]


def test_the_same_twice_differs_nowhere(folders: dict[str, Path]) -> None:
    (first, one), (second, two) = opened(folders["classify"]), opened(folders["classify"])
    traces = (first.trace(A, B), second.trace(A, B))
    asked = questions(first, second, (one, two))
    found = compare_text(first, second, traces, asked)
    assert found.divergence is not None
    assert (found.divergence == 0).all()
    _, left, right = found.answers[0]
    np.testing.assert_array_equal(left.logits, right.logits)
    many = compare_layers(first, second, [Sentence(A, B), A])
    assert (np.diagonal(many.similarity.cka) == 1).all()
    assert limits(first, second) == []


def test_answers_at_one_place_are_those_of_the_text(folders: dict[str, Path]) -> None:
    (first, one), (second, two) = opened(folders["start"]), opened(folders["classify"])
    traces = (first.trace(MASKED, B), second.trace(MASKED, B))
    found = compare_text(first, second, traces, questions(first, second, (one, two)))
    _, left, right = next(answers for answers in found.answers if answers[0].kind == "word")
    assert right is not None
    compared = compare_answers(first, second, MASKED, B, question="word", place=1)
    assert compared == found.compared("word", 1)
    last = np.stack([side.probabilities[-1, 1] for side in (left, right)])
    pieces = [left.names.index(row.answer) for row in compared.rows]
    assert len(compared.rows) == MOST_ANSWERS
    np.testing.assert_array_equal(
        [(row.p_first, row.p_second) for row in compared.rows], last.T[pieces]
    )
    assert last.max(0)[pieces].tolist() == sorted(last.max(0)[pieces], reverse=True)
    assert {*np.argsort(-last, axis=1, kind="stable")[:, :4].ravel()} <= {*pieces}
    differences = [row.difference for row in compared.rows]
    np.testing.assert_allclose(differences, np.diff(last.T[pieces])[:, 0], atol=1e-7)
    assert compared.names == [row.answer for row in compared.rows]
    numbered = dataclasses.replace(compared, kind="class", rows=(AnswerRow("3", 0.1, 0.2),))
    assert numbered.names == ["label 3"]
    for row in compared.layers:
        assert row.after == ("input" if row.state == 0 else f"after layer {row.state - 1}")
        assert row.settled is not None
        settled = "input" if row.settled == 0 else f"after layer {row.settled - 1}"
        assert row.settled_after == settled
    assert compared.followed == left.final[1]  # whose head it is
    for side, which in ((left, "first"), (right, "second")):
        curve = [row.p_followed for row in compared.layers if row.checkpoint == which]
        word = side.names.index(compared.followed)
        np.testing.assert_array_equal(curve, side.probabilities[:, 1, word])
    for options, words in (
        ({"question": "word"}, "there is no question 'word'"),
        ({"place": 1}, "there is no place 1"),
    ):
        with pytest.raises(ValueError, match=words):
            compare_answers(first, second, A, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="neither checkpoint has a question"):
        compare_answers(first, first, A)
    spelled = compare_answers(first, second, MASKED.replace("[MASK]", "<mask>"), B, question="word")
    assert spelled == found.compared("word", 0)
    heads = compare_heads(first, second, MASKED, B)
    np.testing.assert_array_equal(heads, found.divergence)
    both = head_in_both(first, second, MASKED, B, layer=1, head=2)
    np.testing.assert_array_equal(both.weights[1], traces[1].attentions[1, 2].numpy())


def sides(*both: dict[str, float] | None) -> tuple[LayerDecisions | None, ...]:
    """Return answers of two sides at one layer and place, with these probabilities."""
    made: list[LayerDecisions | None] = []
    for named in both:
        row = np.array([*(named or {}).values()], np.float32)[None, None]
        shared = {"logits": row, "probabilities": row, "settled": (0,), "labels": ()}
        made.append(
            LayerDecisions(
                kind="word", names=tuple(named), places=(1,), answers=row.argmax(-1), **shared
            )
            if named
            else None
        )
    return tuple(made)


def test_half_of_the_answers_are_each_sides_own_however_unsure_it_is() -> None:
    sure, unsure = (
        {letter: top - 0.01 * place for place, letter in enumerate(letters)}
        for letters, top in (("abcdef", 0.5), ("uvwxyz", 0.06))
    )
    rows = _rows(sides(sure, unsure), (0, 0))  # type: ignore[arg-type]
    assert [row.answer for row in rows] == [*"abcduvwx"]
    assert np.isnan([rows[0].p_second, rows[4].p_first]).all()
    few = _rows(sides({"a": 0.7, "b": 0.3}, {"b": 0.6, "a": 0.4}), (0, 0))  # type: ignore[arg-type]
    assert [row.answer for row in few] == ["a", "b"]
    (alone,) = _rows(sides({"a": 1.0}, None), (0, 0))  # type: ignore[arg-type]
    assert (alone.answer, alone.p_first) == ("a", 1.0)


def other_shape() -> Bert:
    """A checkpoint that shares next to nothing with the tiny one."""
    pieces = [p for p in tiny_vocabulary() if p not in ("film", "very", "mat")]
    config = tiny_config(
        vocab_size=len(pieces), hidden_size=24, num_hidden_layers=3, num_attention_heads=2
    )
    tokenizer = Tokenizer(pieces, do_lower_case=True, model_max_length=64)
    return Bert(tiny_network(config, seed=5), tokenizer, name="other")


def test_other_shapes_are_told_and_the_rest_is_compared(folders: dict[str, Path]) -> None:
    first, one = opened(folders["classify"])
    second = other_shape()
    said = " ".join(limits(first, second))
    for words in ("vocabularies differ", "32 and 24 numbers", "2 layers of 4 heads and 3 of 2"):
        assert words in said
    asked = questions(first, second, (one, Decisions((), "none")))
    assert [(q.kind, q.borrower) for q in asked] == [("class", None)]
    traces = (first.trace(A, B), second.trace(A, B))
    found = compare_text(first, second, traces, asked)
    assert found.divergence is None
    assert not found.units.are_tokens
    assert found.answers[0][2] is None
    with pytest.raises(ValueError, match="reads vectors of 32 numbers, but these have 24"):
        layer_decisions(one.available[0], traces[1], first.device)
    sentences = [Sentence(A, B), Sentence(B), Sentence("the cat runs"), Sentence(MASKED)]
    many = compare_layers(first, second, sentences)
    assert many.similarity.cka.shape == (3, 4)
    assert np.isfinite(many.similarity.cka).all()
    assert not many.are_tokens
    with pytest.raises(ValueError, match="the two have different numbers"):
        compare_heads(first, second, A, B)


def test_other_architectures_are_compared_by_their_layers(tmp_path: Path) -> None:
    make_other("T5ForConditionalGeneration", tmp_path)
    first, second = tiny_bert(), load(tmp_path, device="cpu")
    decisions = open_decisions(second, tmp_path)
    assert decisions.available == ()
    assert decisions.no_task
    said = " ".join(limits(first, second))
    assert "family" in said
    drift = weight_drift(first, second)
    assert not drift.layers
    assert drift.only_first
    sentences = [Sentence(A), Sentence(B), Sentence("the cat runs and the dog sat")]
    many = compare_layers(first, second, sentences)
    assert not many.are_tokens
    assert np.isfinite(many.similarity.cka).all()
    assert many.similarity.cka.shape[1] == second.config.num_hidden_layers + 1
    with pytest.raises(ValueError, match="transformers"):
        untrained(second)


def test_many_texts_are_all_compared(folders: dict[str, Path]) -> None:
    first, second = (load(folders[name], device="cpu") for name in ("start", "classify"))
    sentences = [Sentence(A), Sentence(B, A), Sentence("a dog runs, the cat not")]
    shares: list[float] = []
    many = compare_layers(
        first, second, sentences, progress=lambda share, stage: shares.append(share)
    )
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])
    counted = [first.trace(s.text, s.text_pair).text_ids for s in sentences]
    assert many.similarity.num_examples == sum(t >= 0 for ids in counted for t in ids)
    left_out = compare_layers(first, second, sentences * 200, max_examples=300)
    assert left_out.num_left_out == 100
    assert left_out.similarity.num_examples == 500  # at least one of each text
    with pytest.raises(ValueError, match="there is no text"):
        compare_layers(first, second, [])


def test_nan_is_a_sentence(folders: dict[str, Path]) -> None:
    first, one = opened(folders["classify"])
    second, two = opened(folders["start"])
    second.module.layers[0].attention.value.weight.data[0, 0] = torch.nan
    traces = (first.trace(A), second.trace(A))
    asked = questions(first, second, (one, two))
    with pytest.raises(ValueError, match="contain NaN or infinity"):
        compare_text(first, second, traces, asked)
    with pytest.raises(ValueError, match="contain NaN or infinity"):
        compare_layers(first, second, [A])


def test_an_untrained_network_has_the_shape_and_no_knowledge() -> None:
    bert = tiny_bert()
    noise, again = untrained(bert), untrained(bert)
    assert noise.config == bert.config
    for one, two in zip(noise.module.parameters(), again.module.parameters(), strict=True):
        assert torch.equal(one, two)
    spread = float(noise.module.embeddings.word_embeddings.weight.std())
    assert spread == pytest.approx(0.0176, abs=2e-3)
