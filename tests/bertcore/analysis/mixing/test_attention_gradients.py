"""Gradients by attention weights, against finite differences in float64."""

import pytest
import torch
from torch import Tensor

from bertcore import Bert, Trace
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    Target,
    WordLogit,
    attention_gradients,
    best_word,
)
from bertcore.network import ALL_HEADS, attention_explicit
from tests.support.tiny import tiny_bert, tiny_config

TEXT, PAIR = "The [MASK] was steep.", "It rained."
MASK = 2


@pytest.fixture(scope="module")
def bert() -> Bert:
    made = tiny_bert()
    made.module.double()
    return made


@pytest.fixture(scope="module")
def trace(bert: Bert) -> Trace:
    return bert.trace(TEXT, PAIR)


def target_with(bert: Bert, trace: Trace, target: Target, changes: Tensor) -> float:
    """Return the target when `changes` [L, H, T, T] are added to the weights."""
    left = list(changes)

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
        _, weights = attention_explicit(q, k, v, mask)
        return (weights + left.pop(0)) @ v

    with torch.no_grad():
        ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
        return float(target(bert, bert.module(ids, segments, attention=attend)))


@pytest.mark.parametrize("target", [WordLogit(MASK, 40), NextSentenceLogit(), NextSentenceLogit(1)])
def test_gradients_are_finite_differences(bert: Bert, trace: Trace, target: Target) -> None:
    found = attention_gradients(bert, trace, target)
    assert found.gradients.dtype == torch.float64
    assert found.target == pytest.approx(target_with(bert, trace, target, 0 * found.weights))
    torch.testing.assert_close(found.weights, trace.attentions)
    generator = torch.Generator().manual_seed(1)
    step = 1e-5
    cells = [
        tuple(int(torch.randint(n, (1,), generator=generator)) for n in found.weights.shape)
        for _ in range(20)
    ]
    cells += [(1, head, row, 3) for head in range(4) for row in (0, MASK)]
    for cell in cells:
        changes = torch.zeros_like(found.weights)
        changes[cell] = step
        above = target_with(bert, trace, target, changes)
        below = target_with(bert, trace, target, -changes)
        expected = (above - below) / (2 * step)
        assert float(found.gradients[cell]) == pytest.approx(expected, rel=1e-5, abs=1e-8)
    assert torch.equal(found.product(1), found.gradients[1] * found.weights[1])


def test_the_last_layer_counts_only_at_the_target(bert: Bert, trace: Trace) -> None:
    """No later layer mixes: only the row of the token that is read has gradients."""
    found = attention_gradients(bert, trace, WordLogit(MASK, 40))
    rows = found.gradients[-1].abs().sum((0, 2))
    assert rows[MASK] > 0
    assert rows.sum() == rows[MASK]
    assert (found.gradients[0].abs().sum((0, 2)) > 0).all()
    pooled = attention_gradients(bert, trace, NextSentenceLogit()).gradients[-1].abs().sum((0, 2))
    assert pooled.sum() == pooled[0] > 0


def test_removing_what_does_not_matter(trace: Trace) -> None:
    """Without values no weight matters: the gradients are zero, not an error."""
    bert = tiny_bert()
    with torch.no_grad():
        for layer in bert.module.layers:
            layer.attention.value.weight.zero_()
            layer.attention.value.bias.zero_()
    found = attention_gradients(bert, bert.trace(TEXT), WordLogit(MASK, 40))
    assert found.gradients.abs().max() == 0


def test_the_best_word_is_that_of_fill_mask() -> None:
    bert = tiny_bert()
    target = best_word(bert, bert.trace(TEXT, PAIR), MASK)
    assert target.position == MASK
    (word, _), *_ = bert.fill_mask(TEXT, PAIR)[0]
    assert bert.tokenizer.id_to_token(target.token_id) == word


def test_frozen_checkpoints_other_ids_and_any_number_of_the_states() -> None:
    bert = tiny_bert()
    bert.module.requires_grad_(False)
    num_tokens = len(bert.tokenize(TEXT, PAIR))
    odd = bert.trace(TEXT, PAIR, segment_ids=[1] * num_tokens, position_ids=[5] * num_tokens)
    with torch.no_grad():
        found = attention_gradients(bert, odd, lambda bert, hidden: hidden[0, 0, 3])
    torch.testing.assert_close(found.weights, odd.attentions)
    assert found.target == pytest.approx(float(odd.hidden_states[-1, 0, 3]), abs=1e-5)
    assert not found.gradients.requires_grad
    assert found.gradients.abs().sum() > 0


def test_nothing_is_left_on_the_checkpoint() -> None:
    bert = tiny_bert(tiny_config(num_hidden_layers=1))
    attention_gradients(bert, bert.trace(TEXT), WordLogit(MASK, 40))
    assert all(parameter.grad is None for parameter in bert.module.parameters())


def test_missing_heads_positions_and_nan_are_refused() -> None:
    bert = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    trace = bert.trace(TEXT)
    with pytest.raises(ValueError, match="no masked-word"):
        attention_gradients(bert, trace, WordLogit(MASK, 40))
    with pytest.raises(ValueError, match="no next-sentence"):
        attention_gradients(bert, trace, NextSentenceLogit())
    whole = tiny_bert()
    with pytest.raises(ValueError, match="no token 99"):
        attention_gradients(whole, whole.trace(TEXT), WordLogit(99, 40))
    with torch.no_grad():
        whole.module.layers[1].attention.query.bias[0] = torch.nan
    with pytest.raises(ValueError, match="attention weights of layer 1 contain NaN"):
        attention_gradients(whole, whole.trace(TEXT), WordLogit(MASK, 40))
