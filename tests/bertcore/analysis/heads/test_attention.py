"""Attention as it is looked at, against the trace, and the attention of any other model."""

from typing import Any

import numpy as np
import pytest
import torch

from bertcore import Trace
from bertcore.analysis import (
    attention_map,
    attention_overview,
    given_attention,
    head_steps,
    layer_attention,
)
from bertcore.analysis.heads.attention import input_tokens
from tests.support.tiny import tiny_bert, tiny_config

TOKENS = ["[CLS]", "riv", "##er", "<s>", "bank", "[SEP]"]
WEIGHTS = torch.softmax(torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0)), -1)


@pytest.mark.parametrize(
    ("layers", "heads", "title"),
    [
        ([1], [2], "Layer 1, head 2"),
        ([0, 1], [], "All 2 layers, mean of all 4 heads"),
    ],
)
def test_every_head_of_a_mean_counts_alike(
    trace: Trace, layers: list[int], heads: list[int], title: str
) -> None:
    shown = attention_map(trace, layers, heads)
    expected = trace.attentions[layers][:, heads or slice(None)].mean((0, 1))
    np.testing.assert_allclose(shown.values, expected, atol=1e-6)
    assert shown.title == title


def test_words_have_their_names_as_in_the_text() -> None:
    trace = tiny_bert().trace("The river fishing.", "steep")
    read = input_tokens(trace)
    assert read.words == ["[CLS]", "The", "river", "fishing", ".", "[SEP]", "steep", "[SEP]"]
    assert len(read.starts) < trace.num_tokens  # "fishing" is of several pieces


def test_a_causal_head_that_spreads_over_all_earlier_tokens_is_even() -> None:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    for layer in bert.module.layers:
        for parameter in layer.attention.query.parameters():
            torch.nn.init.zeros_(parameter)
    evenness = attention_overview(bert.trace("the river bank was steep")).measures.evenness
    torch.testing.assert_close(evenness, torch.ones_like(evenness))


def test_the_steps_of_a_head_end_in_its_weights(trace: Trace) -> None:
    steps = head_steps(tiny_bert(), trace, 1, 2)
    torch.testing.assert_close(steps.neurons.weights, trace.attentions[1, 2], rtol=0, atol=1e-6)
    assert (steps.layer, steps.head, steps.num_layers, steps.num_heads) == (1, 2, 2, 4)


@pytest.mark.parametrize(
    "arrays",
    [WEIGHTS, WEIGHTS.numpy(), WEIGHTS.half(), tuple(WEIGHTS[:, None]), [*WEIGHTS.numpy()]],
)
def test_arrays_of_any_model_are_read_as_a_trace_is(arrays: Any) -> None:
    given = given_attention(arrays, TOKENS, segment_ids=[0, 0, 0, 0, 1, 1])
    torch.testing.assert_close(layer_attention(given, 1).weights, WEIGHTS[1], atol=1e-3, rtol=0)
    assert given.input.text_ids == [-1, 0, 0, -1, 1, -1]
    assert given.input.words == ["[CLS]", "river", "<s>", "bank", "[SEP]"]
    assert given.input.starts == [0, 1, 3, 4, 5]
    named = given_attention(arrays, TOKENS, text_ids=[0] * 6)
    assert not named.input.is_pair
    measured = attention_overview(named).measures.to_previous
    expected = WEIGHTS.diagonal(-1, -2, -1).mean(-1)
    torch.testing.assert_close(measured, expected, atol=1e-3, rtol=0)
    assert not given.input.note


def test_rows_that_do_not_sum_to_one_are_shown_with_a_note() -> None:
    """As with dropout, whose weights are above 1 in sum, or the padding of a cut text."""
    weights = WEIGHTS.clone()
    weights[0, 1, 2] *= 0.5
    given = given_attention(weights, TOKENS)
    torch.testing.assert_close(given.attentions, weights)
    note = "1 of 36 rows do not sum to 1 (they are from 0.5 to 1)"
    for shown in (given.input, attention_overview(given), attention_map(given).input):
        assert note in shown.note


@pytest.mark.parametrize(
    ("attentions", "tokens", "ids", "words"),
    [
        (WEIGHTS, TOKENS[:5], {}, "attentions have the shape"),
        (WEIGHTS[None], TOKENS, {}, "attentions have the shape"),
        (WEIGHTS[:, :, :0, :0], [], {}, "attentions have the shape"),
        (WEIGHTS.log(), TOKENS, {}, "attentions are from"),
        (WEIGHTS + 0j, TOKENS, {}, "attentions cannot be read"),
        ([WEIGHTS[0], WEIGHTS[1, :2]], TOKENS, {}, "attentions cannot be read"),
        (WEIGHTS, [101, 2, 3, 4, 5, 102], {}, "tokens are not a list of strings"),
        (WEIGHTS, TOKENS, {"text_ids": [0]}, "text_ids are 1"),
        (WEIGHTS, TOKENS, {"segment_ids": [2] * 6}, "segment_ids are 6, of 2"),
    ],
)
def test_what_is_no_attention_is_refused(
    attentions: Any, tokens: Any, ids: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        given_attention(attentions, tokens, **ids)


def test_layers_and_heads_that_are_not_there_are_refused(trace: Trace) -> None:
    with pytest.raises(ValueError, match="layer is 2, but this checkpoint has layers 0 to 1"):
        layer_attention(trace, 2)
    with pytest.raises(ValueError, match="head is -1, but"):
        attention_map(trace, [0], [-1])
    with pytest.raises(ValueError, match="no layer is given"):
        attention_map(trace, [])
