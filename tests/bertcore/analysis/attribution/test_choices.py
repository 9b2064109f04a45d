"""Multiple choice: answers, gradients and occlusion beside transformers; what the rows share."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients
from torch import Tensor

from bertcore.analysis.attribution import (
    ChoiceAnswer,
    ChoiceInput,
    ClassTarget,
    answer,
    faithfulness,
    find_counterfactuals,
    gradient_x_input,
    integrated_gradients,
    layer_conductance,
    occlusion,
    run_file,
    task_input,
)
from bertcore.training.tasks.model import TaskModel, open_task_model
from tests.support.rigged_models import random_model
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import TASK_SHAPES, make_other_task
from tests.support.tiny_tasks import SHAPES, make_task

TEXT = "the man ran home"
CHOICES = ("it had rained", "the film", "she saw the old river bank")
OTHERS = [name for name in TASK_SHAPES if name not in ("deberta", "eurobert")]
"""Those that transformers has a class for."""


def of_family(folder: Path, family: str) -> tuple[TaskModel, Any]:
    """Return a checkpoint opened by us and by transformers."""
    make = make_task if family in SHAPES else make_other_task
    theirs = make(folder, "MultipleChoice", model_type=family, labels=("one", "two"))
    return open_task_model(folder, device="cpu"), theirs


def given(model: TaskModel, source: ChoiceInput) -> dict[str, Tensor]:
    """Return the rows of an input as transformers reads them, each [1, N, T]."""
    length = max(map(len, source.rows))
    # XLNet of transformers reads the last place, so its padding has to be on the left.
    is_left = model.module.network.config.model_type == "xlnet"

    def padded(name: str, value: int) -> Tensor:
        rows = [list(getattr(row, name)) for row in source.rows]
        fills = [[value] * (length - len(row)) for row in rows]
        pairs = zip(rows, fills, strict=True)
        return torch.tensor([[fill + row if is_left else row + fill for row, fill in pairs]])

    ids = padded("input_ids", model.tokenizer.pad_id)
    named = {"input_ids": ids, "attention_mask": padded("input_ids", -1).ne(-1).long()}
    if model.module.network.config.type_vocab_size > 1:
        named["token_type_ids"] = padded("segment_ids", 0)
    return named


def read(model: TaskModel, text: str = TEXT, choices: tuple[str, ...] = CHOICES) -> ChoiceInput:
    source = task_input(model, text, choices=choices)
    assert isinstance(source, ChoiceInput)
    return source


@pytest.mark.parity
@pytest.mark.parametrize("family", [*SHAPES, *OTHERS])
def test_answers_are_those_of_transformers(family: str, tmp_path: Path) -> None:
    model, theirs = of_family(tmp_path, family)
    source = read(model)
    found = answer(model, source)
    assert isinstance(found, ChoiceAnswer)
    assert found.labels == CHOICES
    with torch.no_grad():
        expected = theirs(**given(model, source)).logits[0].softmax(-1)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
    target = found.target(source)
    gradients = integrated_gradients(model, source, target, steps=30)
    assert gradients.delta is not None
    assert gradients.baseline is not None
    change = gradients.value - gradients.baseline
    assert gradients.value == pytest.approx(float(torch.logit(expected[found.best])), abs=1e-4)
    assert source.merge(gradients.tokens).sum() == pytest.approx(change + gradients.delta, abs=1e-3)
    assert abs(gradients.delta) < 0.05 * max(abs(change), 0.2)


def test_words_of_the_text_stand_in_every_row_and_count_once() -> None:
    model = random_model("choice")
    source = read(model)
    assert [word.text for word in source.words] == [
        *("[CLS]", "the", "man", "ran", "home", "[SEP]"),
        *("it", "had", "rained", "[SEP]"),
        *("the", "film", "[SEP]"),
        *("she", "saw", "the", "old", "river", "bank", "[SEP]"),
    ]
    ids = [word.text_id for word in source.words]
    assert ids == [-1, 0, 0, 0, 0, -1, 1, 1, 1, -1, 2, 2, -1, 3, 3, 3, 3, 3, 3, -1]
    for place, word in enumerate(source.words):
        spans = source.spans(place)
        assert [row for row, *_ in spans] == ([0, 1, 2] if place < 6 else [spans[0][0]])
        for row, start, end in spans:
            tokens = source.rows[row].tokens[start:end]
            assert "".join(tokens).replace("##", "") == word.text
    # Every token of every row belongs to one word.
    length = max(map(len, source.rows))
    values = np.zeros((3, length))
    for row, encoding in enumerate(source.rows):
        values[row, : len(encoding)] = 1 + row
    merged = source.merge(values.ravel())
    assert merged.sum() == values.sum()
    assert merged[1] == 1 + 2 + 3
    assert merged[6:10].tolist() == [1, 1, 1, 1]


def test_a_row_that_lost_some_of_the_text_shares_what_is_left() -> None:
    from dataclasses import replace

    model = replace(random_model("choice"), max_seq_length=10)
    source = read(model, "the man went shop", ("day", "she sat when the old river"))
    assert [len(row) for row in source.rows] == [8, 10]
    assert [row.text_ids.count(0) for row in source.rows] == [4, 3]
    assert source.truncation is source.rows[1].truncation is not None
    last = next(i for i, word in enumerate(source.words) if word.text == "shop")
    assert source.spans(last) == ((0, 4, 5),)
    assert source.spans(last + 1) == ((0, 5, 6), (1, 4, 5))  # [SEP]
    assert source.rows[1].tokens[4] == "[SEP]"
    first = next(i for i, word in enumerate(source.words) if word.text == "she")
    assert source.spans(first) == ((1, 5, 6),)
    values = np.concatenate([np.ones(8), [0, 0], np.ones(10)])
    assert source.merge(values).sum() == 18
    assert np.isfinite(occlusion(model, source, ClassTarget(0)).value)


@pytest.mark.parity
def test_captum_on_transformers_own_class(tmp_path: Path) -> None:
    """With the embeddings of all rows as the input, padding masked."""
    model, theirs = of_family(tmp_path, "bert")
    source, target = read(model), ClassTarget(1)
    named = given(model, source)
    ids, others = named.pop("input_ids"), named

    def value(embeds: Tensor) -> Tensor:
        rows = {name: tensor.repeat(len(embeds), 1, 1) for name, tensor in others.items()}
        return target.value(theirs(inputs_embeds=embeds, **rows).logits)

    table = theirs.bert.embeddings.word_embeddings
    inputs = table(ids).detach().requires_grad_()
    masked = ids.clone()
    for row, encoding in enumerate(source.rows):
        for place, added in enumerate(encoding.special_tokens_mask):
            if not added:
                masked[0, row, place] = model.tokenizer.mask_id
    start = table(masked).detach()
    expected = IntegratedGradients(value).attribute(inputs, start, n_steps=30).sum(-1)[0]
    found = integrated_gradients(model, source, target, steps=30)
    np.testing.assert_allclose(found.tokens, expected.detach().flatten(), atol=1e-5)
    expected = InputXGradient(value).attribute(inputs).sum(-1)[0]
    found = gradient_x_input(model, source, target)
    np.testing.assert_allclose(found.tokens, expected.detach().flatten(), atol=1e-5)
    conductance = layer_conductance(model, source, target, steps=200)
    change = conductance.value - conductance.baseline
    np.testing.assert_allclose(conductance.layers.sum(1), change, atol=0.05 * abs(change))


@pytest.mark.parity
@pytest.mark.parametrize("how", ["mask", "drop"])
def test_occlusion_asks_transformers_without_the_word_in_any_row(how: str, tmp_path: Path) -> None:
    model, theirs = of_family(tmp_path, "bert")
    source, target = read(model), ClassTarget(2)
    found = occlusion(model, source, target, how=how)

    def value(word: int | None) -> float:
        rows = []
        for number, encoding in enumerate(source.rows):
            gone = set()
            for row, start, end in () if word is None else source.spans(word):
                gone |= set(range(start, end)) if row == number else set()
            tokens = list(enumerate(zip(encoding.input_ids, encoding.segment_ids, strict=True)))
            if how == "mask":
                pairs = [(model.tokenizer.mask_id if i in gone else t, s) for i, (t, s) in tokens]
            else:
                pairs = [pair for i, pair in tokens if i not in gone]
            ids, segments = zip(*pairs, strict=True)
            rows.append(
                theirs(
                    input_ids=torch.tensor([[ids]]), token_type_ids=torch.tensor([[segments]])
                ).logits[0, 0]
            )
        return float(target.value(torch.stack(rows)[None])[0])

    with torch.no_grad():
        for word in source.text_words:
            expected = value(None) - value(word)
            assert float(found.importance[word]) == pytest.approx(expected, abs=1e-4)
    faithful = faithfulness(model, source, target, {"occlusion": found.importance}, how=how)
    assert np.isfinite(faithful["occlusion"].comprehensiveness).all()


def test_another_choice_wins_by_words_of_the_text_alone() -> None:
    model = random_model("choice", seed=3)
    source = read(model)
    first = answer(model, source)
    search = find_counterfactuals(
        model, TEXT, proposer=tiny_bert(), choices=CHOICES, max_forwards=900
    )
    assert search.counterfactuals or search.closest is not None
    for one in search.counterfactuals:
        assert one.text_pair is None
        again = answer(model, read(model, one.text))
        assert again.best != first.best
        assert all(source.words[swap.word].text_id == 0 for swap in one.swaps)


def test_wrong_choices_of_a_file_come_with_all_of_them(tmp_path: Path) -> None:
    model = random_model("choice")
    path = tmp_path / "a.csv"
    lines = ["sent1,sent2,ending0,ending1,label"]
    lines += [f"the man,she,ran {word},saw,{number % 2}" for number, word in enumerate("abcdef")]
    path.write_text("\n".join(lines))
    found = run_file(model, path)
    assert found.num_examples == 6
    assert 0 < len(found.errors) < 6
    for error in found.errors:
        assert error.choices[1] == "she saw"
        assert {error.gold, error.predicted} == set(error.choices)
        one = answer(model, read(model, error.text, error.choices))
        assert one.labels[one.best] == error.predicted
        assert one.probabilities.max() == pytest.approx(error.severity, abs=1e-5)
    assert found.slices_by_label() == []
    assert found.metrics().confusion is None
    assert found.calibration() is not None
