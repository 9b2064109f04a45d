"""What an attention head looks at, in a few numbers per head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class HeadMeasures:
    """Numbers of each head over one input; each field is float32, [L, H].

    A share is between 0 and 1: the part of a token's attention that goes to a kind of token,
    averaged over the tokens that have such a token. NaN where no token has one (a single token has
    no previous token; a single text has no A to B).

    Source: the kinds are those of Clark et al. 2019, "What Does BERT Look At?", section 3;
    `distance` and the two between texts are ours.
    """

    entropy: Tensor
    """Mean over rows of -sum_j w_ij ln w_ij, in nats: 0 = one token, ln T = all alike."""
    distance: Tensor
    """Mean over rows of sum_j w_ij |i - j|, in tokens."""
    to_previous: Tensor
    """Share on the token just before; rows 1 to T-1."""
    to_next: Tensor
    """Share on the token just after; rows 0 to T-2."""
    to_self: Tensor
    """Share on the token itself."""
    to_first: Tensor
    """Share on the first special token, [CLS] in BERT."""
    to_separator: Tensor
    """Share on all other added special tokens together, [SEP] in BERT."""
    a_to_b: Tensor
    """Share that tokens of text A give to tokens of text B; special tokens on neither side."""
    b_to_a: Tensor
    """Share that tokens of text B give to tokens of text A."""

    def of(self, layer: int, heads: Sequence[int]) -> dict[str, float]:
        """Return each measure of one layer, averaged over `heads` (all heads if empty)."""
        chosen = list(heads) or slice(None)
        return {f.name: float(getattr(self, f.name)[layer][chosen].mean()) for f in fields(self)}


def measure_heads(attentions: Tensor, text_ids: Sequence[int]) -> HeadMeasures:
    """Measure every head on one input.

    Args:
        attentions: [L, H, T, T]; row = the token that looks; rows sum to 1. Any float dtype.
        text_ids: T entries: 0 = text A, 1 = text B, -1 = an added special token.

    Raises:
        ValueError: If `text_ids` does not have one entry for each token.

    Source: Clark et al. 2019, sections 3.1 to 3.3. Differs: they average the previous (next) token
        over all rows; here the first (last) row, which has none, is left out, so that a head that
        always looks back has exactly 1.
    """
    num_tokens = attentions.shape[-1]
    if len(text_ids) != num_tokens:
        raise ValueError(
            f"text_ids has {len(text_ids)} entries but the attention has {num_tokens} tokens. "
            "Give one entry for each token, special tokens included."
        )
    text = torch.tensor(list(text_ids))
    special = (text == -1).nonzero().flatten()
    position = torch.arange(num_tokens, dtype=torch.float32)
    distances = (position[:, None] - position[None, :]).abs()  # [T, T]
    # One layer at a time: at 512 tokens a float32 copy of all layers would be 150 MB.
    layers = [_measure_layer(layer.float(), distances, text, special) for layer in attentions]
    return HeadMeasures(*(torch.stack(values) for values in zip(*layers, strict=True)))


def _measure_layer(
    weights: Tensor, distances: Tensor, text: Tensor, special: Tensor
) -> tuple[Tensor, ...]:
    """Return the nine measures of one layer [H, T, T] in the order of HeadMeasures, each [H]."""
    received = weights.mean(1)  # [H, T]: what each token gets, averaged over those that look
    nothing = torch.full((len(weights),), torch.nan)
    return (
        torch.special.entr(weights).sum(-1).mean(-1),
        (weights * distances).sum(-1).mean(-1),
        weights.diagonal(-1, 1, 2).mean(-1),
        weights.diagonal(1, 1, 2).mean(-1),
        weights.diagonal(0, 1, 2).mean(-1),
        received[:, special[0]] if len(special) else nothing,
        received[:, special[1:]].sum(-1) if len(special) > 1 else nothing,
        _mass(weights, text == 0, text == 1),
        _mass(weights, text == 1, text == 0),
    )


def _mass(weights: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the share that `rows` give to `columns` together, [H]; NaN if either is empty."""
    if not rows.any() or not columns.any():
        return torch.full((len(weights),), torch.nan)
    return weights[:, rows][:, :, columns].sum(-1).mean(-1)
