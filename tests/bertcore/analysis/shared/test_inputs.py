"""Inputs of an analysis; a checkpoint whose weights hold NaN gets a sentence."""

from collections.abc import Callable

import pytest
import torch

from bertcore import Bert
from bertcore.analysis.objectives.answers import objective_answer
from bertcore.analysis.shared.inputs import one_piece, require_finite, require_finite_logits
from bertcore.analysis.words.continuation import continue_text, write_with_masks
from bertcore.analysis.words.readings import read_apart, read_both_sides, read_left, read_one_side
from bertcore.analysis.words.training_example import training_example
from tests.support.tiny import tiny_bert, tiny_config

TEXT = "the river bank was steep"
OTHERS = ("it had rained all day.",)


def test_the_first_layer_that_is_not_finite_is_named() -> None:
    layers = torch.zeros(3, 2, 2)
    require_finite(layers, "weights")
    layers[1, 0, 0] = torch.inf
    with pytest.raises(ValueError, match="the weights of layer 1 contain NaN or infinity"):
        require_finite(layers, "weights")
    require_finite_logits([])
    with pytest.raises(ValueError, match="returns NaN or infinity"):
        require_finite_logits([torch.zeros(2), torch.tensor([0, torch.nan])])


@pytest.mark.parametrize(
    "ask",
    [
        lambda bert: training_example(bert, TEXT, OTHERS),
        lambda bert: read_both_sides(bert, TEXT, None, 2),
        lambda bert: read_one_side(bert, TEXT, None, 2, "left"),
        lambda bert: read_apart(bert, TEXT, None, 2),
        lambda bert: write_with_masks(bert, TEXT, 2),
        lambda bert: objective_answer(bert, "masked-words", TEXT, share=0.4),
        lambda bert: objective_answer(bert, "next-sentence", TEXT, TEXT, others=OTHERS),
    ],
)
def test_damaged_weights_are_named(ask: Callable[[Bert], object]) -> None:
    bert = tiny_bert()
    ask(bert)
    _damage(bert)
    with pytest.raises(ValueError, match=r"(contain|returns) NaN or"):
        ask(bert)


@pytest.mark.parametrize(
    "ask",
    [
        lambda bert: read_left(bert, TEXT, None, (0, 6)),
        lambda bert: continue_text(bert, TEXT, 2),
        lambda bert: continue_text(bert, TEXT, 2, temperature=1.0),
        lambda bert: objective_answer(bert, "causal", TEXT),
    ],
)
def test_damaged_weights_of_a_causal_model_are_named(ask: Callable[[Bert], object]) -> None:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    ask(bert)
    _damage(bert)
    with pytest.raises(ValueError, match=r"(contain|returns) NaN or"):
        ask(bert)


def _damage(bert: Bert) -> None:
    with torch.no_grad():
        bert.module.layers[1].attention.output.weight[0, 0] = torch.nan


def test_a_typed_word_is_brought_into_the_vocabularys_form() -> None:
    bert = tiny_bert()
    assert one_piece(bert, "  ") is None
    assert one_piece(bert, "Bank") == "bank"
    assert one_piece(bert, "riverbank") == "riverbank"
