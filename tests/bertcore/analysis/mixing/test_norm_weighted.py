"""Norm-weighted attention, against the vectors themselves."""

import pytest
import torch
from torch import Tensor

from bertcore import Bert, Trace
from bertcore.analysis import summed_norms, weighted_norms
from bertcore.analysis.mixing.norm_weighted import passed_norms
from tests.support.tiny import tiny_bert, tiny_config

TEXT, PAIR = "The river bank was steep.", "It had rained."


def pair_vectors(bert: Bert, trace: Trace, layer: int) -> Tensor:
    """Return alpha_ij f(x_j) of each head as the paper writes it, from the input of the layer.

    An independent way: the head's own slices of W_V and W_O, applied to x_j. [H, T, T, D]
    """
    block = bert.module.layers[layer].attention
    size = block.value.weight.shape[0] // block.num_heads
    x = trace.hidden_states[layer]
    heads = []
    for head in range(block.num_heads):
        own = slice(head * size, (head + 1) * size)
        value = x @ block.value.weight[own].T + block.value.bias[own]
        f = value @ block.output.weight[:, own].T
        heads.append(trace.attentions[layer, head][:, :, None] * f[None])
    return torch.stack(heads).detach()


@pytest.mark.parametrize("layer", [0, 1])
def test_norms_are_those_of_the_vectors(bert: Bert, trace: Trace, layer: int) -> None:
    vectors = pair_vectors(bert, trace, layer)
    torch.testing.assert_close(weighted_norms(bert, trace)[layer], vectors.norm(dim=-1))
    summed = summed_norms(bert, trace)[layer]
    torch.testing.assert_close(summed, vectors.sum(0).norm(dim=-1))


def test_heads_that_cancel_send_nothing(bert: Bert) -> None:
    """Norms do not add: two heads with opposite vectors pass on nothing together."""
    bert = tiny_bert(tiny_config(num_attention_heads=2, num_hidden_layers=1))
    block = bert.module.layers[0].attention
    with torch.no_grad():
        for name in ("query", "key"):
            getattr(block, name).weight.zero_()
            getattr(block, name).bias.zero_()
        block.value.weight[16:] = block.value.weight[:16]
        block.value.bias[16:] = block.value.bias[:16]
        block.output.weight[:, 16:] = -block.output.weight[:, :16]
    trace = bert.trace(TEXT)
    assert weighted_norms(bert, trace).min() > 1e-3
    assert summed_norms(bert, trace).max() < 1e-7


def test_no_pair_of_tokens_has_a_vector(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tensor of [T, T, D] or more is made: 512 tokens fit in memory."""
    from torch.utils._python_dispatch import TorchDispatchMode

    trace = bert.trace("river bank " * 40)
    assert trace.num_tokens == 64
    largest = 0

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            nonlocal largest
            out = func(*args, **(kwargs or {}))
            if isinstance(out, Tensor):
                largest = max(largest, out.numel())
            return out

    with Watch():
        summed_norms(bert, trace)
        weighted_norms(bert, trace)
    assert largest <= trace.attentions.numel() < 64 * 64 * 32


def test_nan_is_refused_with_the_layer() -> None:
    broken = tiny_bert()
    with torch.no_grad():
        broken.module.layers[1].attention.query.weight[0, 0] = torch.nan
    trace = broken.trace(TEXT)
    for measure in (weighted_norms, summed_norms):
        with pytest.raises(ValueError, match=r"attention weights of layer 1 contain NaN.*float32"):
            measure(broken, trace)
    with torch.no_grad():
        broken.module.layers[1].attention.query.weight[0, 0] = 0
        broken.module.layers[0].attention.value.weight[0, 0] = torch.inf
    trace = broken.trace(TEXT)
    with pytest.raises(ValueError, match="of layer"):
        passed_norms(broken, trace)
