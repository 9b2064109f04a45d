"""The numbers behind the attention views, and the Python that makes them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Trace
from bertcore.analysis.heads.measures import HeadMeasures
from bertcore.analysis.mixing.neurons import head_neurons


def shown_heads(heads: Sequence[int], num_heads: int) -> list[int]:
    """Return the open heads in order; with one head in the checkpoint, that head, not a mean."""
    return [0] if num_heads == 1 else sorted(set(heads))


def mean_weights(
    trace: Trace, layers: Sequence[int], heads: Sequence[int]
) -> tuple[NDArray[np.float32], str]:
    """Return one head's weights or the mean of several, [T, T], and what to call it.

    Args:
        layers: At least one.
        heads: Of each of these layers; no heads for all.

    Every chosen head of every chosen layer counts equally.
    """
    num_layers, num_heads = trace.attentions.shape[:2]
    averaged = list(heads) or list(range(num_heads))
    total = torch.zeros(trace.attentions.shape[-2:])
    for layer in layers:
        for head in averaged:
            total += trace.attentions[layer, head]
    weights: NDArray[np.float32] = (total / (len(layers) * len(averaged))).numpy()
    return weights, f"{_layer_words(layers, num_layers)}, {_head_words(heads, num_heads)}"


def _layer_words(layers: Sequence[int], num_layers: int) -> str:
    if len(layers) == 1:
        return f"Layer {layers[0]}"
    if len(layers) == num_layers:
        return f"All {num_layers} layers"
    return f"Layers {', '.join(str(layer) for layer in layers)}"


def _head_words(heads: Sequence[int], num_heads: int) -> str:
    if len(heads) == 1:
        return f"head {heads[0]}"
    if not heads or len(heads) == num_heads:
        return f"mean of all {num_heads} heads"
    return f"mean of heads {', '.join(str(head) for head in heads)}"


def layer_arrays(trace: Trace, layer: int) -> dict[str, NDArray[np.generic]]:
    """Return one layer for an NPZ file: `attention` float32 [H, T, T], `tokens`, `segment_ids`."""
    return {
        "attention": trace.attentions[layer].float().numpy(),
        "tokens": np.array(trace.tokens),
        "segment_ids": np.array(trace.segment_ids),
    }


def neuron_arrays(
    trace: Trace, layer: int, head: int, allowed: Tensor | None = None
) -> dict[str, NDArray[np.generic]]:
    """Return one head's steps for an NPZ file: queries, keys [T, K], scores, attention [T, T].

    With a mask, as `allowed_keys` returns it, also `allowed`, bool [T, T].
    """
    neurons = head_neurons(trace, layer, head, allowed)
    mask = {} if allowed is None else {"allowed": allowed.numpy()}
    return {
        "queries": neurons.queries.numpy(),
        "keys": neurons.keys.numpy(),
        "scores": neurons.scores.numpy(),
        "attention": trace.attentions[layer, head].float().numpy(),
        **mask,
        "tokens": np.array(trace.tokens),
    }


def weights_code(layers: Sequence[int], heads: Sequence[int]) -> dict[str, Any]:
    """Return Python for the maps of these layers and the weights of these heads.

    "maps": [H, T, T], "comment": what they are, "weights": [T, T].
    """
    is_single = len(layers) == 1
    if len(heads) == 1:
        weights = f"maps[{heads[0]}]"
    elif heads:
        weights = f"maps[{list(heads)}].mean(0)"
    else:
        weights = "maps.mean(0)"
    return {
        "maps": f"trace.attentions[{layers[0]}]"
        if is_single
        else f"trace.attentions[{list(layers)}].mean(0)",
        "comment": "every head of the layer"
        if is_single
        else "the mean of these layers, head by head",
        "weights": weights,
    }


def overview_arrays(measures: HeadMeasures) -> dict[str, NDArray[np.generic]]:
    """Return each measure of all heads for an NPZ file, float32 [L, H]."""
    return {field.name: getattr(measures, field.name).numpy() for field in fields(measures)}


def opening(source: str, trace: Trace) -> str:
    """Return Python that opens a checkpoint and runs the text of a trace."""
    texts = repr(trace.text_a) if trace.text_b is None else f"{trace.text_a!r}, {trace.text_b!r}"
    return f"import bertcore\n\nbert = bertcore.load({source!r})\ntrace = bert.trace({texts})\n"


MOST_LAYERS = 6  # most layers that are named; the others are counted


def count_missing(attentions: Tensor) -> NDArray[np.int64]:
    """Return how many weights [L, H, T, T] of each head are not numbers, [L, H]."""
    # One layer at a time: at 512 tokens the flags of all layers would be 38 MB.
    counts = [layer.isnan().sum((-2, -1)).cpu().numpy() for layer in attentions]
    stacked: NDArray[np.int64] = np.stack(counts)
    return stacked


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


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an input of T tokens; an added special token counts as one word."""

    starts: list[int]
    """The first token of each of the W words, ascending from 0."""
    names: list[str]
    """As written in the text; an added special token has its own name."""


def words_of(trace: Trace) -> Words:
    """Return the words that the tokens of a trace belong to."""
    starts = [
        place
        for place, word in enumerate(trace.word_ids)
        if place == 0 or word < 0 or word != trace.word_ids[place - 1]
    ]
    ends = [*starts[1:], trace.num_tokens]
    names = [trace.word_text(start, end) for start, end in zip(starts, ends, strict=True)]
    return Words(starts, names)
