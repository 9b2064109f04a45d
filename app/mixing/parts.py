"""The cached computations of "How tokens mix": each measure as fractions of rows.

The functions are for `app.shell.cache.call`; Texts names the tokens that they measure.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore import Model
from bertcore.analysis.mixing.attention_gradients import (
    NextSentenceLogit,
    Target,
    attention_gradients,
    best_word,
)
from bertcore.analysis.mixing.maps import fraction_on, normalize_rows
from bertcore.analysis.mixing.norm_weighted import BlockNorms, block_norms, passed_norms
from bertcore.analysis.mixing.rollout import attention_rollout, one_map_a_layer
from bertcore.analysis.mixing.value_zeroing import value_zeroing
from bertcore.analysis.shared.finite import require_finite

from ..shell import Texts, cache

Array = NDArray[np.float32]


class SeparatorFractions(NamedTuple):
    """The fraction of [SEP] in what tokens receive, by layer, and how much they mix at all."""

    weights: NDArray[np.float32]
    """By the attention weights, [L, H]."""
    norms: NDArray[np.float32]
    """By the norms of the weighted vectors, [L, H]."""
    block: NDArray[np.float32]
    """With residual connection and, if one follows, LayerNorm; all heads together, [L]."""
    mixing_ratio: NDArray[np.float32]
    """Mean over the tokens, [L]."""


def layer_maps(bert: Model, texts: Texts, layer: int, head: int | None) -> dict[str, Array]:
    """Return weights, norms, and norms with residual (see `block_norms`) of a layer, each [T, T].

    Only the weights if the architecture does not show its parts.
    """
    trace = texts.trace
    if "parts" not in bert.capabilities:
        return {"weights": fractions(one_map_a_layer(trace.attentions, head)[layer])}
    block = cache.call(blocks, texts.key, texts)
    if head is None:
        norms = block.summed[layer]
    else:
        norms = trace.attentions[layer, head].float() * passed_norms(bert, trace)[layer, head]
    weights = one_map_a_layer(trace.attentions[layer : layer + 1], head)[0]
    maps = {"weights": weights, "norms": norms, "block": block.normalized[layer]}
    return {name: fractions(values) for name, values in maps.items()}


def blocks(bert: Model, texts: Texts) -> BlockNorms:
    """Return how tokens mix in each attention block."""
    return block_norms(bert, texts.trace)


def rollouts(bert: Model, texts: Texts, head: int | None) -> Array:
    """Return the rollout from every layer, [L, T, T]."""
    maps: Array = attention_rollout(texts.trace.attentions, head=head).numpy()
    return maps


def zeroing_row(bert: Model, texts: Texts, token: int) -> Array:
    """Return one row of value zeroing in every layer, [L, T]."""
    return fractions(value_zeroing(bert, texts.trace, tokens=[token])[:, 0])


def gradient(bert: Model, texts: Texts, token: int | None, head: int | None) -> Array:
    """Return |gradient x weight| of all layers as fractions, [L, T, T].

    Args:
        token: Where the predicted word's logit is read; None for the next-sentence logit.
    """
    trace = texts.trace
    target: Target = NextSentenceLogit() if token is None else best_word(bert, trace, token)
    gradients = attention_gradients(bert, trace, target)
    require_finite(gradients.gradients, "gradients")
    # One layer at a time: of 144 heads at 512 tokens the product is 151 MB.
    sizes = (gradients.product(layer).float().abs() for layer in range(len(gradients.weights)))
    return fractions(torch.stack([maps.mean(0) if head is None else maps[head] for maps in sizes]))


def separator_fractions(bert: Model, texts: Texts) -> SeparatorFractions:
    """Return how much comes from the added [SEP], the second one of a pair included."""
    trace = texts.trace
    separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
    fraction_of: Callable[[Tensor], Tensor] = partial(fraction_on, columns=separators)
    block = cache.call(blocks, texts.key, texts)
    passed = passed_norms(bert, trace)[:, :, None]
    layers = trace.attentions
    # One layer at a time: both would be as large as the weights of all layers.
    return SeparatorFractions(
        weights=torch.stack([fraction_of(layer.float()) for layer in layers]).numpy(),
        norms=torch.stack(
            [fraction_of(a * p) for a, p in zip(layers, passed, strict=True)]
        ).numpy(),
        block=fraction_of(block.normalized).numpy(),
        mixing_ratio=block.mixing_ratio.mean(-1).numpy(),
    )


def fractions(values: Tensor) -> Array:
    """Return numbers >= 0 with each row divided by its sum."""
    rows: Array = normalize_rows(values.float()).numpy()
    return rows
