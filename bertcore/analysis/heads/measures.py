"""Measures of attention heads on one text or a batch: entropy, distance, attention by target."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from bertcore.model.tokenizer.characters import is_punctuation


@dataclass(frozen=True, slots=True)
class HeadMeasures:
    """Measures of each head over one input; each field is float32, [L, H].

    A fraction, 0 to 1, is the share of a token's attention that goes to a kind of token, averaged
    over the tokens for which one exists. NaN where no token has one (a single token has no previous
    token; a single text has no A to B).

    Source: the kinds are those of Clark et al. 2019, "What Does BERT Look At?", section 3;
    `distance`, `evenness` and the two between texts are ours.
    """

    entropy: Tensor
    """Mean over rows of -sum_j w_ij ln w_ij, in nats: 0 = one token, ln T = uniform (less in a
    causal network)."""
    distance: Tensor
    """Mean over rows of sum_j w_ij |i - j|, in tokens."""
    to_previous: Tensor
    """Fraction of attention on the token just before; rows 1 to T-1."""
    to_next: Tensor
    """Fraction of attention on the token just after; rows 0 to T-2."""
    to_self: Tensor
    """Fraction of attention on the token itself."""
    to_first: Tensor
    """Fraction of attention on the first special token, [CLS] in BERT."""
    to_separator: Tensor
    """Fraction of attention on all other added special tokens together, [SEP] in BERT."""
    a_to_b: Tensor
    """Fraction of attention from tokens of text A to those of text B, special tokens excluded."""
    b_to_a: Tensor
    """Fraction of attention from tokens of text B to those of text A."""
    to_same_word: Tensor
    """Fraction of attention on the other occurrences of the same piece (the same id), in either
    text; rows of pieces that occur more than once. Added special tokens count on neither side."""
    to_punctuation: Tensor
    """Fraction of attention on the pieces of the texts that are punctuation marks; all rows."""
    evenness: Tensor
    """Normalised entropy, the mean over rows of entropy / ln K, K = the tokens that the row may
    attend to, at least 2: 0 = one token, 1 = uniform. Broad heads are near 1."""
    entropy_first: Tensor
    """Entropy of the row of [CLS] alone, in nats (Clark et al., figure 4, below)."""

    def of(self, layer: int, heads: Sequence[int]) -> dict[str, float]:
        """Return each measure of one layer, averaged over `heads` (all heads if empty)."""
        index = list(heads) or slice(None)
        return {f.name: float(getattr(self, f.name)[layer][index].mean()) for f in fields(self)}

    @property
    def clearest(self) -> tuple[int, int]:
        """Layer and head with the strongest habit of place: the token before, after, or the same.

        Special tokens do not count: a head that finds nothing rests on them (Clark et al.,
        section 3.2). The first of equals; (0, 0) if no weight is a number.
        """
        places = torch.stack([self.to_previous, self.to_next, self.to_self])
        strongest = places.nan_to_num(-1).amax(0)
        layer, head = divmod(int(strongest.argmax()), strongest.shape[1])
        return layer, head


MEASURES = tuple(field.name for field in fields(HeadMeasures))
"""Names of the measures, in the order of `measure_batch`."""
HABITS = (
    *("to_previous", "to_next", "to_self", "to_first", "to_separator", "to_punctuation"),
    *("to_same_word", "a_to_b", "b_to_a", "evenness"),
)
"""Those between 0 and 1."""
_ENTROPIES = ("entropy", "evenness", "entropy_first")
_LINEAR = tuple(name for name in MEASURES if name not in _ENTROPIES)


class TokenKinds(NamedTuple):
    """The kind of each token of one input; both lists have length T."""

    text_ids: Sequence[int]
    """0 = text A, 1 = text B, -1 = an added special token."""
    tokens: Sequence[str]
    """The pieces."""


class Patterns(NamedTuple):
    """The weight of each attention cell in each measure that is a weighted sum of the map."""

    cells: Tensor
    """[B, T * T, M], M = the measures of _LINEAR; 0 beyond the end of a shorter input."""
    num_rows: Tensor
    """How many rows have such a token, [B, M]."""
    num_keys: Tensor
    """How many tokens each row may attend to, the first so many; 0 for padding, [B, T]."""
    is_token: Tensor
    """True for tokens, False for padding, [B, T]."""
    has_first: Tensor
    """Whether there is an added special token in front, [B]."""


def measure_heads(
    attentions: Tensor, text_ids: Sequence[int], tokens: Sequence[str], *, is_causal: bool = False
) -> HeadMeasures:
    """Measure every head on one input.

    Args:
        attentions: [L, H, T, T]; row = query token; rows sum to 1. Any float dtype.
        text_ids: T entries: 0 = text A, 1 = text B, -1 = an added special token.
        tokens: The T pieces; equal pieces count as the same word, and punctuation marks are
            recognised.

    Source: Clark et al. 2019, sections 3.1 to 3.3. Differs: they average the previous (next) token
        over all rows; here the first (last) row, which has none, is left out, so that a head that
        always attends to the token before has exactly 1.
    """
    patterns = make_patterns([TokenKinds(text_ids, tokens)], is_causal=is_causal)
    # One layer at a time: at 512 tokens a float32 copy of all layers would be 150 MB.
    layers = [measure_batch(layer.float()[None, None], patterns)[0, 0] for layer in attentions]
    return HeadMeasures(*torch.stack(layers).unbind(-1))


def make_patterns(inputs: Sequence[TokenKinds], *, is_causal: bool = False) -> Patterns:
    """Return the weights and masks of the measures for a padded batch; T is the longest.

    With `is_causal` a token attends only to itself and those before it. ModernBERT's windows do not
    count: inside of 65 tokens they cut nothing off.
    """
    longest = max(len(kinds.text_ids) for kinds in inputs)
    text = torch.full((len(inputs), longest), _PADDING)
    piece = torch.zeros_like(text)
    mark = torch.zeros(text.shape, dtype=torch.bool)
    for row, (text_ids, tokens) in enumerate(inputs):
        numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
        text[row, : len(text_ids)] = torch.tensor(list(text_ids))
        piece[row, : len(tokens)] = torch.tensor([numbers[token] for token in tokens])
        mark[row, : len(tokens)] = torch.tensor([is_mark(token) for token in tokens])
    is_token, is_special, is_text = text > _PADDING, text == -1, text >= 0
    order = is_special.cumsum(1)
    place = torch.arange(longest)
    step = place[None, :] - place[:, None]  # [T, T]: how far the column is after the row

    def to(columns: Tensor, rows: Tensor = is_token) -> Tensor:
        return rows[:, :, None] & columns[:, None, :]

    anywhere, in_text = to(is_token), to(is_text, is_text)
    cells = {
        "distance": anywhere * step.abs(),
        "to_previous": anywhere & (step == -1),
        "to_next": anywhere & (step == 1),
        "to_self": anywhere & (step == 0),
        "to_first": to(is_special & (order == 1)),
        "to_separator": to(is_special & (order > 1)),
        "a_to_b": to(text == 1, text == 0),
        "b_to_a": to(text == 0, text == 1),
        "to_same_word": in_text & (piece[:, :, None] == piece[:, None, :]) & (step != 0),
        "to_punctuation": to(is_text & mark),
    }
    stacked = torch.stack([cells[name] for name in _LINEAR], dim=-1).float()  # [B, T, T, M]
    num_rows = (stacked > 0).any(2).sum(1)
    num_rows[:, _LINEAR.index("distance")] = is_token.sum(1)
    num_keys = is_token.cumsum(1) if is_causal else is_token.sum(1, keepdim=True)
    return Patterns(
        stacked.flatten(1, 2), num_rows, num_keys * is_token, is_token, is_special[:, 0]
    )


def measure_batch(attentions: Tensor, patterns: Patterns) -> Tensor:
    """Measure every head on each input of a padded batch [L, B, H, T, T].

    The weights are 0 in the columns beyond the end of an input, while the rows there are not read.
    float32, [B, L, H, M], M = MEASURES, NaN where an input lacks a kind of token.
    """
    num_layers, num_inputs, num_heads = attentions.shape[:3]
    measures = attentions.new_full((num_inputs, num_layers, num_heads, len(MEASURES)), torch.nan)
    lengths = patterns.is_token.sum(1)
    rows = patterns.is_token[:, None, :].float()  # [B, 1, T]
    # Of a single key ln K = 0; without any other row evenness is 0 / 0 = NaN: undefined.
    has_choice = patterns.num_keys > 1
    most = patterns.num_keys.clamp(min=2).log()  # [B, T]
    parts = (has_choice / most / has_choice.sum(1, keepdim=True))[:, None, :]  # [B, 1, T]
    linear = [MEASURES.index(name) for name in _LINEAR]
    for layer, weights in enumerate(attentions):
        # [B, H, T * T] @ [B, T * T, M] -> [B, H, M]
        sums = weights.reshape(num_inputs, num_heads, -1) @ patterns.cells
        measures[:, layer, :, linear] = sums / patterns.num_rows[:, None, :]
        entropies = torch.special.entr(weights).sum(-1)  # [B, H, T]
        entropy = (entropies * rows).sum(-1) / lengths[:, None]
        measures[:, layer, :, MEASURES.index("entropy")] = entropy
        measures[:, layer, :, MEASURES.index("evenness")] = (entropies * parts).sum(-1)
        first = entropies[..., 0].masked_fill(~patterns.has_first[:, None], torch.nan)
        measures[:, layer, :, MEASURES.index("entropy_first")] = first
    return measures


def uniform_measures(patterns: Patterns) -> Tensor:
    """Return the measures of a head with uniform attention, [B, M], M = MEASURES.

    Uniform over the tokens that each row may attend to.
    """
    num_keys = patterns.num_keys[:, :, None]
    place = torch.arange(num_keys.shape[1], device=num_keys.device)
    spread = (place < num_keys) / num_keys.clamp(min=1)  # [B, T, T]
    return measure_batch(spread[None, :, None], patterns)[:, 0, 0]


@lru_cache(maxsize=65536)
def is_mark(token: str) -> bool:
    """Return whether a piece is punctuation, by the tokenizer's definition.

    >>> is_mark("."), is_mark("##s"), is_mark("'")
    (True, False, True)
    """
    return all(is_punctuation(character) for character in token.removeprefix("##")) and token != ""


_PADDING = -2
