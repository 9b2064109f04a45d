"""Weights that were pruned: masks beside them, or layers without some of their heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from bertcore.architecture.families import FAMILIES
from bertcore.checkpoints.weights import OpenWeights

_MASKED, _MASK = "_orig", "_mask"
"""Ends of the names that torch.nn.utils.prune gives to a tensor and its mask."""


class PrunedWeights(OpenWeights):
    """The tensors of a file as those of a whole network.

    A tensor with a mask is multiplied by it. Heads that were cut off have matrices of zeros, so
    that they add nothing, as in the pruned network.

    Args:
        heads: Layer -> the heads that were cut off.
        head_size: K: width of a head.
    """

    def __init__(
        self, weights: OpenWeights, heads: Mapping[int, list[int]], head_size: int
    ) -> None:
        self._weights, self._heads, self._head_size = weights, heads, head_size
        self._masked = {
            name.removesuffix(_MASKED)
            for name in weights.stored
            if name.endswith(_MASKED) and name.removesuffix(_MASKED) + _MASK in weights.stored
        }
        stored = {
            name: tensor
            for name, tensor in weights.stored.items()
            if name.removesuffix(_MASKED).removesuffix(_MASK) not in self._masked
        }
        stored |= {name: weights.stored[name + _MASKED] for name in self._masked}
        self._cut = {name: cut for name in stored if (cut := self._place(name)) is not None}
        for name, (layer, dimension) in self._cut.items():
            shape = list(stored[name].shape)
            shape[dimension] += len(heads[layer]) * head_size
            stored[name] = replace(stored[name], shape=tuple(shape))
        super().__init__(stored)

    def _place(self, name: str) -> tuple[int, int] | None:
        """Return layer and dimension in which a tensor lacks heads, or None."""
        for layer in self._heads:
            for family in FAMILIES.values():
                parts, start = dict(family.layer), family.layer_prefix.format(layer)
                if f".{start}" not in f".{name}":
                    continue
                rest = name.rpartition(start)[2]
                inputs = {parts.get(f"attention.{part}") for part in ("query", "key", "value")}
                if rest.removesuffix("weight").removesuffix("bias") in inputs:
                    return layer, 0
                if rest == f"{parts['attention.output']}weight":
                    return layer, 1
        return None

    def read(self, name: str) -> Tensor:
        tensor = (
            self._weights.read(name + _MASKED) * self._weights.read(name + _MASK)
            if name in self._masked
            else self._weights.read(name)
        )
        if name not in self._cut:
            return tensor
        layer, dimension = self._cut[name]
        kept = torch.ones(self.stored[name].shape[dimension], dtype=torch.bool)
        kept = kept.view(-1, self._head_size)
        kept[self._heads[layer]] = False
        whole = tensor.new_zeros(self.stored[name].shape)
        whole.index_copy_(dimension, kept.flatten().nonzero().flatten(), tensor)
        return whole


def whole_weights(weights: OpenWeights, values: Mapping[str, Any]) -> OpenWeights:
    """Return the weights of a file, those of a pruned network as of a whole one.

    Args:
        values: The content of config.json, which names heads that were cut off (pruned_heads).
    """
    heads, size = pruned_heads(values), _head_size(values)
    has_masks = any(name.endswith(_MASK) for name in weights.stored)
    return PrunedWeights(weights, heads, size) if heads or has_masks else weights


def pruned_heads(values: Mapping[str, Any]) -> dict[int, list[int]]:
    """Return layer -> the heads that config.json says were cut off; {} if it is no such table."""
    stated, count = values.get("pruned_heads"), _number(values, "num_attention_heads", "n_heads")
    if not isinstance(stated, dict) or not _head_size(values):
        return {}
    return {
        int(layer): sorted(set(heads))
        for layer, heads in stated.items()
        if str(layer).isdecimal()
        and isinstance(heads, list)
        and heads
        and all(type(head) is int and 0 <= head < count for head in heads)
    }


def _head_size(values: Mapping[str, Any]) -> int:
    heads = _number(values, "num_attention_heads", "n_heads")
    return _number(values, "hidden_size", "dim") // heads if heads else 0


def _number(values: Mapping[str, Any], *names: str) -> int:
    found = (value for name in names if type(value := values.get(name)) is int and value > 0)
    return next(found, 0)
