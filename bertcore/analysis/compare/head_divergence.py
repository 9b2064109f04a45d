"""Divergence of attention between the heads of two checkpoints on the same text."""

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import divergence_of_rows
from bertcore.analysis.compare.shared_units import SharedUnits
from bertcore.trace import Trace


@torch.no_grad()
def head_divergence(first: Trace, second: Trace, units: SharedUnits) -> NDArray[np.float32]:
    """Return the Jensen-Shannon divergence between head l.h of the first run and of the second.

    Args:
        first, second: Two runs of the same text, with the same numbers of layers and heads.
        units: The shared units; attention is merged into words where the tokens differ.

    Returns:
        Mean over the tokens or words, in bits, [L, H]; 0: the same, 1: no weight in common. NaN
        where a weight is NaN.

    ValueError if the numbers of layers or heads differ: head 1.2 of one is then not head 1.2 of the
    other.

    Source: Lin 1991, equation 4.1 with equal weights, as in `before_after.attention_change`.
    """
    shapes = [trace.attentions.shape[:2] for trace in (first, second)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"the first has {shapes[0][0]} layers of {shapes[0][1]} heads and the second "
            f"{shapes[1][0]} of {shapes[1][1]}, so their heads do not correspond."
        )
    # One layer at a time: at 512 tokens a float32 copy of all layers would be 150 MB.
    by_layer = [
        divergence_of_rows(units.merged_attention(old, 0), units.merged_attention(new, 1)).mean(-1)
        for old, new in zip(first.attentions, second.attentions, strict=True)
    ]
    divergence: NDArray[np.float32] = torch.stack(by_layer).numpy()
    return divergence
