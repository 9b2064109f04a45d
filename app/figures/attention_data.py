"""The numbers behind the attention views, and the Python that makes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertcore import Trace


def shown_heads(heads: Sequence[int], num_heads: int) -> list[int]:
    """Return the open heads in order; all of a checkpoint with one head is that head, no mean."""
    return [0] if num_heads == 1 else sorted(set(heads))


def mean_weights(trace: Trace, layer: int, heads: Sequence[int]) -> tuple[NDArray[np.float32], str]:
    """Return one head's weights or the mean of several, [T, T], and what to call it.

    Args:
        layer, heads: Which; no heads for the mean of all.
    """
    chosen = trace.attentions[layer].float()
    if len(heads) == 1:
        return chosen[heads[0]].numpy(), f"Layer {layer}, head {heads[0]}"
    if not heads:
        return chosen.mean(0).numpy(), f"Layer {layer}, mean of all {len(chosen)} heads"
    names = ", ".join(str(head) for head in heads)
    return chosen[list(heads)].mean(0).numpy(), f"Layer {layer}, mean of heads {names}"


def layer_arrays(trace: Trace, layer: int) -> dict[str, NDArray[np.generic]]:
    """Return one layer for an NPZ file: `attention` float32 [H, T, T], `tokens`, `segment_ids`."""
    return {
        "attention": trace.attentions[layer].float().numpy(),
        "tokens": np.array(trace.tokens),
        "segment_ids": np.array(trace.segment_ids),
    }


def attention_code(source: str, trace: Trace, layer: int, heads: Sequence[int]) -> str:
    """Return Python that computes the same numbers with bertcore."""
    texts = repr(trace.text_a) if trace.text_b is None else f"{trace.text_a!r}, {trace.text_b!r}"
    if len(heads) == 1:
        chosen = f"layer[{heads[0]}]"
    elif heads:
        chosen = f"layer[{list(heads)}].mean(0)"
    else:
        chosen = "layer.mean(0)"
    return (
        "import bertcore\n\n"
        f"bert = bertcore.load({source!r})\n"
        f"trace = bert.trace({texts})\n"
        f"layer = trace.attentions[{layer}]  # [H, T, T]: every head of the layer\n"
        f"weights = {chosen}  # [T, T]: the row's token looks at the column's\n"
    )
