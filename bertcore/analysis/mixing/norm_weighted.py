"""Attention weighted by the norms of the vectors that tokens pass on.

A head gives token i the sum over j of alpha_ij f(x_j), where f(x) = (x W_V + b_V) W_O is the vector
the head passes on for a token. A large weight on a short vector has little effect: idle heads of
BERT attend to [SEP], whose f(x) is short.
"""

import torch
from torch import Tensor

from bertcore.analysis.shared.inputs import require_finite
from bertcore.model.bert import with_parts
from bertcore.model.model import Model
from bertcore.model.network.attention import AttentionBlock
from bertcore.model.trace import Trace


def passed_on(block: AttentionBlock, values: Tensor) -> Tensor:
    """Return f(x_j) for each head: its output for a token that attends only to j.

    Of `values` x_j W_V + b_V by head, [H, T, K]: float32 on the CPU, [H, T, D]. The block's output
    bias belongs to no head and is not included.
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
def summed_norms(bert: Model, trace: Trace) -> Tensor:
    """Return ||sum_h alpha_ij f_h(x_j)||, all heads together, float32 [L, T, T].

    Heads may cancel each other, so their vectors are summed before the norm is taken. The norm of a
    sum over heads needs only the heads' products with each other ([T, H, H] for a layer), not the
    vectors of all pairs of tokens ([T, T, D], 805 MB for 512 tokens).

    ValueError if weights are NaN or infinite.

    Source: Kobayashi et al. 2020, section 2.2.
    """
    require_finite(trace.attentions, "attention weights")
    layers = with_parts(bert).module.layers
    norms = []
    for layer, weights, values in zip(layers, trace.attentions, trace.values, strict=True):
        # float64: the norm of a sum in which heads cancel each other loses half of the digits.
        by_token = passed_on(layer.attention, values).double().transpose(0, 1)  # [T, H, D]
        products = by_token @ by_token.transpose(1, 2)  # [T, H, H], of the heads at token j
        per_source = weights.double().permute(2, 1, 0)  # [H, i, j] -> [j, i, H]
        squares = ((per_source @ products) * per_source).sum(-1)  # [j, i]
        norms.append(squares.clamp_min(0).sqrt().T.float())
    stacked = torch.stack(norms)
    require_finite(stacked, "values")
    return stacked
