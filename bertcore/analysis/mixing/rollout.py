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


def attention_rollout(
    attentions: Tensor, *, head: int | None = None, residual: float = 0.5
) -> Tensor:
    """Return the attention rollout from every layer down to the input, float32 [L, T, T].

    Each layer's map is residual I + (1 - residual) A, and layer l's rollout is
    A_l A_(l-1) ... A_0: rows are the tokens at the output of layer l, columns the input's.

    Args:
        attentions: [L, H, T, T]; row = query token; rows sum to 1.
        head: The head of each layer to follow; None for the mean of all.
        residual: Fraction of a token's vector that comes from itself through the residual
            connection.

    ValueError if weights are NaN or infinite.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    return rollout(_one_map_a_layer(attentions, head), residual=residual)


def rollout(layers: Tensor, *, residual: float = 0.0) -> Tensor:
    """Return the products M_l ... M_1 M_0 of maps [L, T, T], for every layer l, float32 [L, T, T].

    Args:
        layers: Numbers >= 0; their rows are normalised to sum to 1.
        residual: Fraction of the identity to mix into each, 0 up to below 1. 0 for maps that
            already include the residual connection, such as value zeroing.
    """
    identity = torch.eye(layers.shape[-1])
    products: list[Tensor] = []
    for layer in layers.float():
        mixed = residual * identity + (1 - residual) * normalize_rows(layer)
        # The later layer is on the left: its row i sums over the earlier layer's rows.
        products.append(mixed @ products[-1] if products else mixed)
    return torch.stack(products)


def _one_map_a_layer(attentions: Tensor, head: int | None) -> Tensor:
    """Return one head of each layer, or the mean of all (None), float32 [L, T, T].

    ValueError if weights are NaN or infinite.
    """
    require_finite(attentions, "attention weights")
    if head is not None:
        return attentions[:, head].float()
    # One layer at a time: a float32 copy of 144 heads at 512 tokens would be 151 MB.
    return torch.stack([layer.float().mean(0) for layer in attentions])
