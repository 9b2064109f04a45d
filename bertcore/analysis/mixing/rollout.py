"""Attention rollout: how much of each input token reaches a token through the layers."""

import torch
from torch import Tensor

from bertcore.analysis.shared.inputs import require_finite


def normalize_rows(maps: Tensor) -> Tensor:
    """Return maps [..., T, T] of numbers >= 0 with each row divided by its sum.

    A row of zeros stays zero.
    """
    sums = maps.sum(-1, keepdim=True)
    return maps / torch.where(sums > 0, sums, torch.ones_like(sums))


def attention_rollout(attentions: Tensor, *, head: int | None = None) -> Tensor:
    """Return the attention rollout from every layer down to the input, float32 [L, T, T].

    Each layer's map is (I + A) / 2, for the residual connection, and layer l's rollout is
    A_l A_(l-1) ... A_0: rows are the tokens at the output of layer l, columns the input's.

    Args:
        attentions: [L, H, T, T]; row = query token; rows sum to 1.
        head: The head of each layer to follow; None for the mean of all.

    ValueError if weights are NaN or infinite.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    require_finite(attentions, "attention weights")
    # One layer at a time: a float32 copy of 144 heads at 512 tokens would be 151 MB.
    of_layers = (layer.float().mean(0) if head is None else layer[head] for layer in attentions)
    return rollout(torch.stack(list(of_layers)), residual=0.5)


def rollout(layers: Tensor, *, residual: float = 0.0) -> Tensor:
    """Return the products M_l ... M_1 M_0 of maps [L, T, T], for every layer l, float32 [L, T, T].

    Numbers are >= 0; rows are normalised to sum to 1. `residual` is the fraction of the identity to
    mix into each, from 0 up: 0 for maps that already include the residual connection, such as value
    zeroing.
    """
    identity = torch.eye(layers.shape[-1])
    products: list[Tensor] = []
    for layer in layers.float():
        mixed = residual * identity + (1 - residual) * normalize_rows(layer)
        # The later layer is on the left: its row i sums over the earlier layer's rows.
        products.append(mixed @ products[-1] if products else mixed)
    return torch.stack(products)
