"""Occlusion and faithfulness on a model that adds up words, all numbers by hand."""

import math

import numpy as np
import pytest
import torch

from bertcore.analysis.attribution.counterfactual import answer
from bertcore.analysis.attribution.faithfulness_scores import faithfulness, random_faithfulness
from bertcore.analysis.attribution.task_input import occlusion, run_task, task_input, whole, without
from bertcore.training.tasks.answers import (
    ClassTarget,
    ScoreTarget,
    SpanTarget,
    TagTarget,
    log_odds,
)
from tests.support.rigged_models import bag_of_words, random_model

WORDS = {"good": (0.0, 2.0), "bad": (1.0, 0.0), "film": (0.0, 0.5)}
TEXT = "the good film was not bad"
SAYS = np.array([0, 2, 0.5, 0, 0, -1])
"""What each word of TEXT adds to the log-odds of "good"."""


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


@pytest.mark.parametrize("how", ["mask", "drop"])
def test_occlusion_by_hand(how: str) -> None:
    model = bag_of_words(WORDS)
    source = task_input(model, TEXT)
    found = occlusion(model, source, ClassTarget(1), how=how)
    assert found.value == pytest.approx(1.5)
    assert found.whole == pytest.approx(sigmoid(1.5))
    assert np.isnan(found.importance[[0, -1]]).all()
    np.testing.assert_allclose(found.importance[1:-1], SAYS, atol=1e-6)
    expected = [sigmoid(1.5 - says) for says in SAYS]
    np.testing.assert_allclose(found.measure[1:-1], expected, atol=1e-6)


def test_faithfulness_by_hand() -> None:
    """Six words: of 1, 5 and 10% one is taken, of 20% two, of 50% three."""
    model = bag_of_words(WORDS)
    source = task_input(model, TEXT)
    right = np.array([np.nan, *SAYS, np.nan])
    found = faithfulness(model, source, ClassTarget(1), {"right": right, "wrong": -right})
    good = found["right"]
    p = sigmoid(1.5)
    removed = [p - sigmoid(-0.5)] * 3 + [p - sigmoid(-1)] * 2  # "good"; "film" too; "the" says 0
    np.testing.assert_allclose(good.comprehensiveness, removed, atol=1e-6)
    kept = [p - sigmoid(2)] * 3 + [p - sigmoid(2.5)] * 2
    np.testing.assert_allclose(good.sufficiency, kept, atol=1e-6)
    assert good.mean_comprehensiveness == pytest.approx(np.mean(removed), abs=1e-6)
    assert good.mean_sufficiency == pytest.approx(np.mean(kept), abs=1e-6)
    assert found["wrong"].mean_comprehensiveness < good.mean_comprehensiveness
    assert found["wrong"].mean_sufficiency > good.mean_sufficiency


def test_random_orders_are_the_same_for_a_seed_and_between_the_extremes() -> None:
    model = bag_of_words(WORDS)
    source = task_input(model, TEXT)
    many = random_faithfulness(model, source, ClassTarget(1))
    again = random_faithfulness(model, source, ClassTarget(1))
    values = [one.mean_comprehensiveness for one in many]
    assert values == [one.mean_comprehensiveness for one in again]
    assert len(set(values)) > 5
    right = np.array([np.nan, *SAYS, np.nan])
    both = faithfulness(model, source, ClassTarget(1), {"right": right, "wrong": -right})
    assert min(values) >= both["wrong"].mean_comprehensiveness - 1e-6
    assert max(values) <= both["right"].mean_comprehensiveness + 1e-6


def test_wrong_arguments_are_told() -> None:
    model = bag_of_words(WORDS)
    source = task_input(model, TEXT)
    with pytest.raises(ValueError, match="expected one of mask, drop"):
        occlusion(model, source, ClassTarget(1), how="blur")
    tagger = random_model("tag")
    with pytest.raises(ValueError, match="answers for each token"):
        without(tagger, task_input(tagger, TEXT), [1], "drop")
    empty = task_input(model, "\u200b")
    with pytest.raises(ValueError, match="no word to remove"):
        faithfulness(model, empty, ClassTarget(1), {"any": np.zeros(len(empty.words))})


def test_inputs_of_many_lengths_run_together_as_alone() -> None:
    model = random_model("classify")
    source = task_input(model, TEXT, "it had rained")
    rows = [whole(source), *(without(model, source, [word], "drop") for word in (1, 3, 9))]
    together = run_task(model, rows)
    for row, one in zip(rows, together, strict=True):
        torch.testing.assert_close(one, run_task(model, [row])[0], atol=1e-5, rtol=0)


def test_targets_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3.0), 0.0]])
    assert float(log_odds(logits, 1)) == pytest.approx(math.log(3 / 2))
    assert float(ClassTarget(1).measure(logits)) == pytest.approx(0.6)
    assert float(ClassTarget(1).value(logits)) == pytest.approx(math.log(0.6 / 0.4))
    table = torch.stack([logits, torch.zeros_like(logits)], dim=1)  # [1, 2, 3]
    assert float(TagTarget(0, 1).measure(table)) == pytest.approx(0.6)
    assert float(TagTarget(1, 1).measure(table)) == pytest.approx(1 / 3)
    spans = torch.stack([logits, logits.roll(1)], dim=-1)  # [1, 3, 2]
    assert float(SpanTarget(1, 2).measure(spans)) == pytest.approx(0.36)
    assert float(SpanTarget(1, 2).value(spans)) == pytest.approx(2 * math.log(1.5))
    assert float(ScoreTarget().value(torch.tensor([[2.5]]))) == 2.5


def test_answers_of_each_task() -> None:
    for task in ("classify", "pair", "tag", "regress", "qa"):
        model = random_model(task)
        source = task_input(model, "where is the man", "the man is in paris")
        found = answer(model, source)
        ids = torch.tensor([source.encoding.input_ids])
        logits = model.module(ids, torch.tensor([source.encoding.segment_ids])).detach()
        target = found.target(source, word=2)
        measured = float(target.measure(logits))
        if task == "regress":
            assert found.score == pytest.approx(measured, abs=1e-5)
        elif task == "tag":
            assert found.probabilities.shape == (len(source.words), 3)
            assert found.probabilities[2].max() == pytest.approx(measured, abs=1e-5)
        elif task == "qa":
            best = found.spans[0]
            assert best.probability == pytest.approx(measured, abs=1e-5)
            tokens = source.encoding.tokens
            assert best.text == " ".join(tokens[best.start : best.end + 1])
            starts, ends = logits[0].softmax(0).unbind(-1)
            tries = {(i, j): float(starts[i] * ends[j]) for i in range(6, 11) for j in range(i, 11)}
            assert max(tries, key=tries.__getitem__) == (best.start, best.end)
            assert found.no_answer == pytest.approx(float(starts[0] * ends[0]), abs=1e-6)
        else:
            assert found.probabilities.max() == pytest.approx(measured, abs=1e-5)
            assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)


def test_what_cannot_be_answered_is_told() -> None:
    model = random_model("qa")
    with pytest.raises(ValueError, match="a question needs a text"):
        answer(model, task_input(model, "where is the man"))
    nothing = task_input(model, "where", "\u200b")
    with pytest.raises(ValueError, match="no token that could be an answer"):
        answer(model, nothing).target(nothing)
    choice = random_model("choice")
    with pytest.raises(ValueError, match="0 choices; expected at least 2"):
        answer(choice, task_input(choice, "she ran", "home"))
    with pytest.raises(ValueError, match="1 choice; expected at least 2"):
        answer(choice, task_input(choice, "she ran", choices=["home"]))
    with pytest.raises(ValueError, match="choice 1 is blank"):
        task_input(choice, "she ran", choices=["home", " "])
    with pytest.raises(ValueError, match="a second text besides the choices"):
        task_input(choice, "she ran", "home", choices=["home", "away"])
    with pytest.raises(ValueError, match="2 choices, but the model is for the task 'qa'"):
        task_input(model, "she ran", choices=["home", "away"])


def test_long_texts_are_cut_as_in_fine_tuning() -> None:
    from dataclasses import replace

    model = replace(random_model("classify"), max_seq_length=8)
    source = task_input(model, "the river " * 40)
    assert len(source.encoding) == 8
    assert source.encoding.truncation is not None
    assert len(task_input(random_model("qa"), "the", "river " * 99).encoding) == 64
