"""The sentence about weights that are not numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_LAYERS = 6  # most layers that are named; the others are counted


def missing_sentence(
    counts: NDArray[np.int64],
    num_tokens: int,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
) -> str:
    """Return how many weights are not numbers and in which heads; empty if all are numbers.

    Args:
        counts: From `count_missing`, [L, H].
        num_tokens: T.
        layers, heads: Numbers of the rows and columns of `counts`; from 0 if not given.
    """
    if not counts.any():
        return ""
    layer_names = range(counts.shape[0]) if layers is None else layers
    head_names = range(counts.shape[1]) if heads is None else heads
    places = []
    for layer, row in zip(layer_names, counts, strict=True):
        broken = [head for head, number in zip(head_names, row, strict=True) if number]
        if broken:
            places.append(f"layer {layer} {_heads(broken, counts.shape[1])}")
    listed = "; ".join(places[:MOST_LAYERS])
    if len(places) > MOST_LAYERS:
        listed += f"; and {len(places) - MOST_LAYERS} more layers"
    return (
        f"{counts.sum():,} of {counts.size * num_tokens**2:,} weights are not numbers (NaN), in "
        f"{listed}. The checkpoint's weights are damaged."
    )


def _heads(heads: Sequence[int], looked_at: int) -> str:
    if len(heads) == looked_at and len(heads) > 3:
        return f"all {looked_at} heads"
    return f"head{'s' if len(heads) > 1 else ''} {', '.join(map(str, heads))}"
