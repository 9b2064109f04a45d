"""Pooling: from the vectors of a text's tokens to one vector."""

import torch
from torch import Tensor

POOLINGS = ("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
"""The names of sentence-transformers: the mean over all tokens; the first token; the highest of
each number; the sum over the square root of their number; the mean with weights 1, 2, 3, ...; the
last token. [CLS] and [SEP] are tokens like all others."""


def pool(hidden: Tensor, attention_mask: Tensor, pooling: str) -> Tensor:
    """Pool the states of a padded batch, [B, T, D], to [B, D].

    Args:
        hidden: States of the tokens.
        attention_mask: True = a token, False = padding, [B, T]; padding comes last.
        pooling: One of POOLINGS.
    """
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(~attention_mask[..., None], -torch.inf).amax(1)
    weights, total = _weights(attention_mask, pooling)
    return (hidden * weights[..., None].to(hidden.dtype)).sum(1) / total


def _weights(attention_mask: Tensor, pooling: str) -> tuple[Tensor, Tensor]:
    """Return the weight of each token, float32 [B, T], and the divisor of their sum, [B, 1]."""
    tokens = attention_mask.float()
    counts = tokens.sum(1, keepdim=True)
    places = torch.arange(1, attention_mask.shape[1] + 1, device=attention_mask.device)
    if pooling == "mean_sqrt_len_tokens":
        return tokens, counts.sqrt()
    if pooling == "weightedmean":
        tokens = tokens * places
    elif pooling == "lasttoken":
        tokens = (places == counts).float()
    elif pooling == "cls":
        tokens = (places == 1).float().expand_as(tokens)
    return tokens, tokens.sum(1, keepdim=True)


def token_parts(hidden: Tensor, pooling: str) -> Tensor:
    """Return the part of each token in the pooled vector of one text, [T, D]; they sum to it.

    With "max", a number belongs to the token that has it.

    Args:
        hidden: States of the tokens, [T, D], without padding.
        pooling: One of POOLINGS.
    """
    if pooling == "max":
        owners = hidden.argmax(0)
        return hidden * (torch.arange(len(hidden), device=hidden.device)[:, None] == owners)
    attention_mask = torch.ones(1, len(hidden), dtype=torch.bool, device=hidden.device)
    weights, total = _weights(attention_mask, pooling)
    return hidden * weights[0, :, None].to(hidden.dtype) / total
