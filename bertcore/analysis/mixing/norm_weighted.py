"""Attention weighted by the norms of the vectors that tokens pass on.

A head gives token i the sum over j of alpha_ij f(x_j), where f(x) = (x W_V + b_V) W_O is the vector
the head passes on for a token. A large weight on a short vector has little effect: idle heads of
BERT attend to [SEP], whose f(x) is short.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.analysis.shared.inputs import require_finite
from bertcore.bert import with_parts
from bertcore.model import Model
from bertcore.network.attention import AttentionBlock
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True)
class BlockNorms:
    """How much token i receives from token j in a whole attention block; float32."""

    summed: Tensor
    """||sum_h alpha_ij f_h(x_j)||: all heads together, [L, T, T]."""
    normalized: Tensor
    """The same after the residual connection (x_i, on the diagonal) and LayerNorm, [L, T, T]."""
    mixing_ratio: Tensor
    """Mixing / (mixing + preserving), 0 to 1, [L, T]: mixing is the norm of what token i receives
    from all others together, preserving is that of what it receives from itself and the residual.
    """


def passed_on(block: AttentionBlock, values: Tensor) -> Tensor:
    """Return f(x_j) for each head: its output for a token that attends only to j.

    Args:
        block: The attention block of a layer.
        values: x_j W_V + b_V by head, [H, T, K].

    Returns:
        float32 on the CPU, [H, T, D]. The block's output bias belongs to no head and is not
        included.
    """
    output = block.output.weight.detach().float().cpu()  # [D, D], input dimension last
    by_head = output.view(len(output), block.num_heads, -1)  # [D, D] -> [D, H, K]
    return torch.einsum("htk,dhk->htd", values.float(), by_head)


@torch.no_grad()
def passed_norms(bert: Model, trace: Trace) -> Tensor:
    """Return ||f(x_j)|| for each head, float32 [L, H, T].

    ValueError if weights are NaN or infinite.
    """
    layers = zip(with_parts(bert).module.layers, trace.values, strict=True)
    norms = [passed_on(layer.attention, values).norm(dim=-1) for layer, values in layers]
    stacked = torch.stack(norms)
    require_finite(stacked, "values")
    return stacked


@torch.no_grad()
def weighted_norms(bert: Model, trace: Trace) -> Tensor:
    """Return ||alpha_ij f(x_j)|| for each head, float32 [L, H, T, T].

    The weights are not negative, so this is alpha_ij ||f(x_j)||, and no vector is computed per pair
    of tokens: 12 x 12 heads at 512 tokens take 151 MB, the size of the weights.

    ValueError if weights are NaN or infinite.

    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight", section 2.2.
    """
    require_finite(trace.attentions, "attention weights")
    return trace.attentions.float() * passed_norms(bert, trace)[:, :, None, :]


@torch.no_grad()
def block_norms(bert: Model, trace: Trace) -> BlockNorms:
    """Return how tokens mix in each attention block, heads summed as vectors.

    Heads may cancel each other, so their vectors are summed before the norm is taken. The norm of a
    sum over heads needs only the heads' products with each other ([T, H, H] for a layer), not the
    vectors of all pairs of tokens ([T, T, D], 805 MB for 512 tokens).

    LayerNorm is linear except for the division by the deviation of the token's sum, which is known:
    g_i(y) = (y - mean(y)) / deviation_i * gain applies to each part. The output bias and
    LayerNorm's bias belong to no token and are left out of both ratio and map. Where no LayerNorm
    follows the block (ModernBERT), the vectors are compared as they are summed.

    ValueError if weights are NaN or infinite.

    Source: `summed`: Kobayashi et al. 2020, section 2.2; `normalized` and `mixing_ratio`:
        Kobayashi et al. 2021, "Incorporating Residual and Normalization Layers into Analysis of
        Masked Language Models", section 3.
    """
    require_finite(trace.attentions, "attention weights")
    layers = [
        _one_block(layer.attention, trace.attentions[i], trace.values[i], trace.hidden_states[i])
        for i, layer in enumerate(with_parts(bert).module.layers)
    ]
    norms = BlockNorms(*(torch.stack(parts) for parts in zip(*layers, strict=True)))
    require_finite(norms.mixing_ratio, "hidden states")
    return norms


def _one_block(
    block: AttentionBlock, weights: Tensor, values: Tensor, hidden: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three fields of BlockNorms for weights [H, T, T], values, and input [T, D]."""
    alpha, hidden = weights.float(), hidden.float()
    passed = passed_on(block, values)  # [H, T, D]
    received = (alpha @ passed).sum(0)  # [T, D], from all tokens
    from_self = (alpha.diagonal(0, 1, 2)[..., None] * passed).sum(0)  # [T, D]

    norm, deviation = block.output_norm, torch.ones(len(hidden))
    if norm is not None:
        bias, gain = (p.detach().float().cpu() for p in (block.output.bias, norm.weight))
        before = received + bias + hidden
        deviation = (before.var(-1, correction=0) + norm.eps).sqrt()  # [T], of LayerNorm

    def normalize(y: Tensor) -> Tensor:
        """Apply LayerNorm's linear part, without the deviation, if a LayerNorm follows."""
        return y if norm is None else (y - y.mean(-1, keepdim=True)) * gain

    mixing = normalize(received - from_self).norm(dim=-1)  # over the same deviation: it cancels
    preserving = normalize(from_self + hidden).norm(dim=-1)
    normalized = _norms_of_sums(alpha, normalize(passed)) / deviation[:, None]
    normalized.diagonal().copy_(preserving / deviation)
    total = mixing + preserving
    return _norms_of_sums(alpha, passed), normalized, mixing / total


def _norms_of_sums(alpha: Tensor, vectors: Tensor) -> Tensor:
    """Return ||sum_h alpha_hij vectors_hj|| of weights [H, T, T] and vectors [H, T, D]: [T, T]."""
    # float64: the norm of a sum in which heads cancel each other loses half of the digits.
    by_token = vectors.double().transpose(0, 1)  # [T, H, D]
    products = by_token @ by_token.transpose(1, 2)  # [T, H, H], of the heads at token j
    per_source = alpha.double().permute(2, 1, 0)  # [H, i, j] -> [j, i, H]
    squares = ((per_source @ products) * per_source).sum(-1)  # [j, i]
    return squares.clamp_min(0).sqrt().T.float()
