"""One layer taken apart: scores, weights, each head's output, both sums, neurons, both norms.

A trace keeps queries, keys, values, attention weights and the state after each layer; the rest
follows from them and is computed here, one layer at a time: all layers of all tokens would take ten
times the memory of the trace.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.analysis.shared.inputs import require_finite
from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network import Layer, attention_fused, attention_scores
from bertcore.model.network.feed_forward import activate
from bertcore.model.network.modern import GatedFeedForward, ModernAttention
from bertcore.model.trace import Trace

_TOLERANCE = 0.05
"""Largest difference of a layer's output from the trace's, relative to its norm: more than a 16-bit
network's rounding."""


@dataclass(frozen=True, slots=True)
class LayerParts:
    """The values a layer computes at N of T tokens, in the order of computation; on the CPU.

    In BERT a LayerNorm follows each sum (post-norm): `attention_input` is `hidden`, and
    `feed_forward_input` is `attention_state`. In ModernBERT it precedes each block (pre-norm): the
    sums are not normalised, but the input of each block is.
    """

    hidden: Tensor
    """The layer's input, [N, D]."""
    attention_input: Tensor
    """The input of the query, key and value projections, [N, D]."""
    queries: Tensor
    """[H, N, K]"""
    keys: Tensor
    """[H, T, K]"""
    values: Tensor
    """[H, T, K]"""
    scores: Tensor
    """queries . keys / sqrt(K), [H, N, T]; a window (ModernBERT) is not included."""
    weights: Tensor
    """softmax(scores), 0 outside of a window, [H, N, T]; rows sum to 1."""
    context: Tensor
    """The mix of values that each head fetches, weights . values, [H, N, K]."""
    head_outputs: Tensor
    """The output of each head: its mix through its part of the output projection, [H, N, D]."""
    attention_output: Tensor
    """The sum of the heads' outputs and the projection's bias, [N, D]."""
    attention_sum: Tensor
    """hidden + attention_output, the residual connection, [N, D]."""
    attention_state: Tensor
    """LayerNorm(attention_sum); in ModernBERT the sum itself, [N, D]."""
    feed_forward_input: Tensor
    """The input of the neurons, [N, D]."""
    pre_activations: Tensor
    """Before the activation function, [N, F]; F is 4 D in BERT. A neuron fires above 0."""
    gates: Tensor | None
    """ModernBERT's factor for each activation, [N, F]."""
    activations: Tensor
    """After the activation function (and gate), [N, F]."""
    feed_forward_output: Tensor
    """The joint output of the neurons, with the bias, [N, D]."""
    feed_forward_sum: Tensor
    """attention_state + feed_forward_output, the residual connection, [N, D]."""
    output: Tensor
    """LayerNorm(feed_forward_sum), [N, D]. In ModernBERT the sum itself, normalised after the last
    layer."""


@torch.no_grad()
def layer_parts(bert: Model, trace: Trace, layer: int) -> LayerParts:
    """Return the values a layer computes at every token of a trace without changes, float32.

    ValueError if there is no such layer, the layers of the architecture cannot be read, numbers are
    NaN or infinite, or the trace is of another checkpoint or of a changed run.
    """
    layers = with_parts(bert).module.layers
    require_finite(trace.hidden_states, "hidden states")
    hidden = trace.hidden_states[layer].float()
    parts = parts_of_rows(layers[layer], trace, layer, hidden, slice(None))
    require_same_run(parts.output, trace.hidden_states[layer + 1])
    return parts


def require_same_run(computed: Tensor, traced: Tensor) -> None:
    """Reject a trace whose states [..., D] are not those that the checkpoint computes.

    ValueError if they differ by more than rounding.
    """
    traced = traced.to(computed.dtype)
    difference = float((computed - traced).norm() / traced.norm().clamp_min(1e-12))
    if not difference <= _TOLERANCE:
        raise ValueError(
            f"the layer's output differs from the trace's by {difference:.0%}: the trace is of "
            "another checkpoint, or of a run with heads, layers or attention changed. Trace the "
            "text again, without changes."
        )


def parts_of_rows(
    block: Layer, trace: Trace, layer: int, hidden: Tensor, rows: slice
) -> LayerParts:
    """Return the values a layer computes at some tokens, in the number format of `hidden`.

    `hidden` is the layer's input at these tokens, [N, D], on the CPU.
    """
    queries, keys, values = (
        part[layer].to(hidden.dtype) for part in (trace.queries, trace.keys, trace.values)
    )
    weights = trace.attentions[layer, :, rows].to(hidden.dtype)
    context = weights @ values  # [H, N, K]
    weight = _weight(block.attention.output, hidden)
    by_head = weight.view(len(weight), len(context), -1)  # [D, D] -> [D, H, K]
    head_outputs = torch.einsum("hnk,dhk->hnd", context, by_head)
    attention_output = head_outputs.sum(0)
    if block.attention.output.bias is not None:
        attention_output = attention_output + block.attention.output.bias.detach().to(hidden)
    attention_sum = hidden + attention_output
    attention_state = normalized(attention_sum, block.attention.output_norm)
    attention_input, feed_forward_input = hidden, attention_state
    if isinstance(block.attention, ModernAttention):
        attention_input = normalized(hidden, block.attention.norm)
    feed_forward = block.feed_forward
    is_gated = isinstance(feed_forward, GatedFeedForward)
    if is_gated:
        feed_forward_input = normalized(attention_state, feed_forward.norm)
    inner, gates = linear(feed_forward_input, feed_forward.intermediate), None
    if is_gated:
        inner, gates = inner.chunk(2, dim=-1)
    activations = activate(inner, feed_forward.activation)
    if gates is not None:
        activations = activations * gates
    written = linear(activations, feed_forward.output)
    return LayerParts(
        hidden=hidden,
        attention_input=attention_input,
        queries=queries[:, rows],
        keys=keys,
        values=values,
        scores=attention_scores(queries[:, rows], keys),
        weights=weights,
        context=context,
        head_outputs=head_outputs,
        attention_output=attention_output,
        attention_sum=attention_sum,
        attention_state=attention_state,
        feed_forward_input=feed_forward_input,
        pre_activations=inner,
        gates=gates,
        activations=activations,
        feed_forward_output=written,
        feed_forward_sum=attention_state + written,
        output=normalized(attention_state + written, output_norm(block)),
    )


def output_norm(block: Layer) -> nn.LayerNorm | None:
    """Return the LayerNorm after a layer's second sum; None where there is none."""
    if isinstance(block.feed_forward, GatedFeedForward):
        return block.feed_forward.final_norm
    return block.feed_forward.norm


def linear(x: Tensor, module: nn.Linear) -> Tensor:
    """Return module(x) in the number format and on the device of x."""
    bias = None if module.bias is None else module.bias.detach().to(x)
    return F.linear(x, _weight(module, x), bias)


def normalized(x: Tensor, norm: nn.LayerNorm | None) -> Tensor:
    """Return norm(x) in the number format and on the device of x; x itself without a norm."""
    if norm is None:
        return x
    bias = None if norm.bias is None else norm.bias.detach().to(x)
    return F.layer_norm(x, norm.normalized_shape, norm.weight.detach().to(x), bias, norm.eps)


def _weight(module: nn.Linear, like: Tensor) -> Tensor:
    return module.weight.detach().to(like)


@torch.no_grad()
def attention_outputs(model: Model, hidden_states: Tensor) -> Tensor:
    """Return the state between each layer's two halves, float32 [L, T, D], of [L+1, T, D].

    That is LayerNorm(x + attention(x)), the input of the layer's feed-forward block.

    ValueError if the layers of the architecture cannot be read.
    """
    bert = with_parts(model)
    inputs = hidden_states[:-1].to(bert.device, bert.dtype)
    halves = [
        layer.attention(state[None], None, attention_fused)[0]
        for layer, state in zip(bert.module.layers, inputs, strict=True)
    ]
    return torch.stack(halves).float().cpu()


@torch.inference_mode()
def neuron_activations(model: Model, half: Tensor, layer: int) -> Tensor:
    """Return what a layer's neurons make of its `attention_outputs`, [T, D]: float32 [T, F]."""
    bert = with_parts(model)
    block = bert.module.layers[layer].feed_forward
    return block.neurons(half[None].to(bert.device, bert.dtype))[0].float().cpu()


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """What becomes of a text of T tokens on its way through a model."""

    trace: Trace
    """Embeddings, hidden states and attention."""
    after_attention: Tensor | None
    """The state between a layer's two halves, [L, T, D]; None if the layers cannot be read."""

    @property
    def attention(self) -> Tensor:
        """The mean of each layer's heads, [L, T, T]."""
        return self.trace.attentions.mean(1)


def passage(bert: Model, trace: Trace) -> Passage:
    """Return what becomes of a text between its embeddings and the last layer."""
    can_read = "parts" in bert.capabilities
    return Passage(trace, attention_outputs(bert, trace.hidden_states) if can_read else None)
