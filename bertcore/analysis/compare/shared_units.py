"""The tokens or words that two runs of a text share, and how far their heads diverge over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import divergence_of_rows
from bertcore.model.trace import Trace


class Unit(NamedTuple):
    """A token or word that both runs have, or a group of added special tokens."""

    name: str
    """The token, or the word as written in the text."""
    is_special: bool
    first: tuple[int, ...]
    """Its tokens in the first run; at least one."""
    second: tuple[int, ...]
    """Its tokens in the second run; at least one."""


@dataclass(frozen=True, slots=True)
class SharedUnits:
    """The U units of a text that two runs share, in the order of the text."""

    units: tuple[Unit, ...]
    are_tokens: bool
    """Whether both runs have the same tokens; else the units are words between spaces."""

    def merged_vectors(self, vectors: Tensor, side: int) -> Tensor:
        """Return the mean vector of each unit, [..., U, D], of run `side`, 0 or 1, [..., T, D]."""
        if self.are_tokens:
            return vectors.float()
        return self._matrix(vectors.shape[-2], side, mean=True) @ vectors.float()

    def merged_attention(self, weights: Tensor, side: int) -> Tensor:
        """Return attention between units, [..., U, U], of weights [..., T, T]; rows sum to 1.

        Sums over key tokens and averages over query tokens. Attention to tokens that only this run
        has is left out and the rest scaled up. Source: Clark et al. 2019, section 4.1; leaving out
        and scaling up are ours.
        """
        if self.are_tokens:
            return weights.float()
        num_tokens = weights.shape[-1]
        rows = self._matrix(num_tokens, side, mean=True)
        columns = self._matrix(num_tokens, side, mean=False)
        merged = rows @ weights.float() @ columns.T
        return merged / merged.sum(-1, keepdim=True).clamp_min(torch.finfo(merged.dtype).tiny)

    def _matrix(self, num_tokens: int, side: int, *, mean: bool) -> Tensor:
        """Return [U, T]: 1, or 1 / count, where a token belongs to a unit."""
        matrix = torch.zeros(len(self.units), num_tokens)
        for row, unit in enumerate(self.units):
            tokens = unit.second if side else unit.first
            matrix[row, list(tokens)] = 1 / len(tokens) if mean else 1.0
        return matrix


def shared_units(first: Trace, second: Trace) -> SharedUnits:
    """Return the units that two runs of the same text share.

    If both split the text into the same tokens, each token is a unit. Otherwise a unit is a word
    (between spaces) with all its pieces, or a group of adjacent special tokens: [SEP] in one run
    and </s></s> in the other are one unit.

    ValueError if the texts differ in whether there is a text B.
    """
    if (first.text_b is None) != (second.text_b is None):
        raise ValueError(
            "one run is of a pair and the other of a single text. Run the same input through both."
        )
    if first.tokens == second.tokens and first.text_ids == second.text_ids:
        same = zip(first.tokens, first.text_ids, strict=True)
        units = [Unit(name, text < 0, (i,), (i,)) for i, (name, text) in enumerate(same)]
        return SharedUnits(tuple(units), are_tokens=True)
    one, two = _members(first), _members(second)
    keys = [key for key in one if key in two]
    units = [
        Unit(_name(first, one[key]), key[0] < 0, tuple(one[key]), tuple(two[key])) for key in keys
    ]
    units.sort(key=lambda unit: unit.first)
    return SharedUnits(tuple(units), are_tokens=False)


def _members(trace: Trace) -> dict[tuple[int, int], list[int]]:
    """Return the tokens of each word, by (text, number of the word); special groups by (-1, n)."""
    starts = [_word_numbers(trace.text_a), _word_numbers(trace.text_b or "")]
    members: dict[tuple[int, int], list[int]] = {}
    group, was_special = -1, False
    for place, (text, span) in enumerate(zip(trace.text_ids, trace.offsets, strict=True)):
        if text < 0:
            group += not was_special
            key = (-1, group)
        else:
            numbers = starts[text]
            # The last character: a piece of SentencePiece may begin with the space before it.
            last = min(max(span[1] - 1, span[0]), len(numbers) - 1)
            key = (text, numbers[last])
        was_special = text < 0
        members.setdefault(key, []).append(place)
    return members


def _word_numbers(text: str) -> Sequence[int]:
    """Return for each character the number of the word it is in, or that ends before it."""
    numbers, count, inside = [], -1, False
    for character in text:
        is_space = character.isspace()
        count += not is_space and not inside
        inside = not is_space
        numbers.append(max(count, 0))
    return numbers or [0]


def _name(trace: Trace, places: Sequence[int]) -> str:
    text = trace.text_ids[places[0]]
    if text < 0:
        return "".join(trace.tokens[place] for place in places)
    whole = (trace.text_b or "") if text == 1 else trace.text_a
    start = min(trace.offsets[place][0] for place in places)
    end = max(trace.offsets[place][1] for place in places)
    return whole[start:end].strip() or trace.tokens[places[0]]


@torch.no_grad()
def head_divergence(first: Trace, second: Trace, units: SharedUnits) -> NDArray[np.float32]:
    """Return the Jensen-Shannon divergence between head l.h of the first run and of the second.

    The runs are of the same text, with the same numbers of layers and heads; attention is merged
    into words where the tokens differ. Mean over the tokens or words, in bits, [L, H]; 0: the same,
    1: no weight in common. NaN where a weight is NaN.

    Source: Lin 1991, equation 4.1 with equal weights, as in `before_after.attention_change`.
    """
    # One layer at a time: at 512 tokens a float32 copy of all layers would be 150 MB.
    by_layer = [
        divergence_of_rows(units.merged_attention(old, 0), units.merged_attention(new, 1)).mean(-1)
        for old, new in zip(first.attentions, second.attentions, strict=True)
    ]
    divergence: NDArray[np.float32] = torch.stack(by_layer).numpy()
    return divergence
