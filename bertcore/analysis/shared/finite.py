"""Rejection of NaN and infinity, which cannot be drawn."""

from collections.abc import Iterable

import torch
from torch import Tensor


def require_finite(layers: Tensor, name: str) -> None:
    """Reject numbers that are not finite.

    Args:
        layers: [L, ...], one entry for each layer.
        name: The name of the numbers, as a plural noun.

    ValueError if one is NaN or infinite; names the first layer that has it.
    """
    # One number for each layer: a mask of 144 heads at 512 tokens would be as large as they are.
    sums = torch.stack([layer.sum(dtype=torch.float64) for layer in layers])
    broken = (~sums.isfinite()).nonzero().flatten().tolist()
    if broken:
        raise ValueError(
            f"the {name} of layer {broken[0]} contain NaN or infinity, so nothing can be measured "
            "from them. The checkpoint's weights are damaged or its number format overflows: "
            "open it in float32, or choose another checkpoint."
        )


def require_finite_logits(logits: Iterable[Tensor]) -> None:
    """Reject logits that are not finite; ValueError if a number is NaN or infinite."""
    if not all(bool(tensor.isfinite().all()) for tensor in logits):
        raise ValueError(
            "the model returns NaN or infinity, so there is nothing to show. The checkpoint's "
            "weights are damaged, or its number format overflows: open it in float32, or choose "
            "another checkpoint."
        )
