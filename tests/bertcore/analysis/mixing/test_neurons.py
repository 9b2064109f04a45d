"""Where an attention weight comes from, against the definition and the trace."""

import math
from pathlib import Path

import pytest
import torch

from bertcore import Bert, Changes, load
from bertcore.analysis import allowed_keys, head_neurons
from bertcore.model.architecture.config import ModernBertConfig
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make

TEXTS: list[tuple[str, str | None]] = [
    ("the river bank was steep", "it had rained"),
    ("the", None),
    ("", None),
    ("the man went to the shop " * 9, None),
]


@pytest.mark.parametrize(("text_a", "text_b"), TEXTS)
def test_scores_and_weights_of_every_head(bert: Bert, text_a: str, text_b: str | None) -> None:
    trace = bert.trace(text_a, text_b)
    num_layers, num_heads, num_tokens, width = trace.queries.shape
    for layer in range(num_layers):
        for head in range(num_heads):
            found = head_neurons(trace, layer, head)
            for row in range(num_tokens):
                q = trace.queries[layer, head, row]
                for column in range(num_tokens):
                    dot = float(torch.dot(q, trace.keys[layer, head, column]))
                    expected = pytest.approx(dot / math.sqrt(width), abs=1e-5)
                    assert float(found.scores[row, column]) == expected
            difference = (found.weights - trace.attentions[layer, head]).abs().max()
            assert float(difference) < 1e-6
            assert found.allowed is None
            assert found.scores.dtype == found.weights.dtype == torch.float32


def test_a_mask_hides_and_leaves_the_scores(bert: Bert) -> None:
    trace = bert.trace("the river bank", changes=Changes(pattern="causal"))
    size = trace.num_tokens
    allowed = torch.ones(size, size).tril().bool()
    for layer in range(2):
        found = head_neurons(trace, layer, 1, allowed)
        assert torch.equal(found.scores, head_neurons(trace, layer, 1).scores)
        assert (found.weights[~allowed] == 0).all()
        torch.testing.assert_close(found.weights, trace.attentions[layer, 1], rtol=0, atol=1e-6)
    row = torch.ones(size)
    row[-1] = 0
    found = head_neurons(trace, 0, 0, row)
    assert found.allowed.shape == (size, size)
    assert (found.weights[:, -1] == 0).all()


def test_the_mask_of_a_causal_layer_ends_in_the_traces_weights() -> None:
    causal = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    trace = causal.trace("the river bank", "it had rained")
    for layer in range(2):
        allowed = allowed_keys(causal, layer, trace.num_tokens)
        assert allowed is not None
        found = head_neurons(trace, layer, 1, allowed)
        torch.testing.assert_close(found.weights, trace.attentions[layer, 1], rtol=0, atol=1e-6)
        assert torch.equal(allowed, torch.ones_like(allowed).tril())
    assert (head_neurons(trace, 0, 1).weights - trace.attentions[0, 1]).abs().max() > 0.01


def test_the_mask_of_a_window_ends_in_the_traces_weights(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    modern = load(tmp_path, device="cpu")
    config = modern.config
    assert isinstance(config, ModernBertConfig)
    trace = modern.trace("the river bank was steep and it had rained all day")
    places = torch.arange(trace.num_tokens)
    masks = [allowed_keys(modern, layer, trace.num_tokens) for layer in range(len(trace.keys))]
    assert None in masks
    for layer, allowed in enumerate(masks):
        found = head_neurons(trace, layer, 2, allowed)
        torch.testing.assert_close(found.weights, trace.attentions[layer, 2], rtol=0, atol=1e-6)
        if allowed is not None:
            reach = config.window(layer)
            assert reach is not None
            assert torch.equal(allowed, (places[:, None] - places).abs() <= reach)
