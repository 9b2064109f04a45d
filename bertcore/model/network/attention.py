"""Self-attention, written twice: explicit for traces, fused for speed."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network.empty import empty_linear

AttentionFunction = Callable[[Tensor, Tensor, Tensor, Tensor | None, float], Tensor]
"""(queries, keys, values [B, H, T, K], additive mask or None, dropout) -> context [B, H, T, K]."""


def additive_mask(attention_mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Turn True = attend into 0 and False into the most negative number of `dtype`.

    Of bool or 0/1, [B, T] (one row for all queries) or [B, T, T]: [B, 1, 1, T] or [B, 1, T, T].
    """
    allowed = attention_mask.bool()
    allowed = allowed[:, None, None, :] if allowed.dim() == 2 else allowed[:, None, :, :]
    zeros = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
    return zeros.masked_fill(~allowed, torch.finfo(dtype).min)


def tokens_at(states: Tensor, places: Tensor) -> Tensor:
    """Return the rows at `places` [B], one of each text, [B, ..., 1, K], of [B, ..., T, K]."""
    index = places.view(-1, *[1] * (states.dim() - 1))
    return states.gather(-2, index.expand(*states.shape[:-2], 1, states.shape[-1]))


class AttentionBuffers(NamedTuple):
    """Memory that attention_explicit writes to, so that a trace is filled without copies."""

    scores: Tensor
    """[B, H, T, T]; reusable afterwards."""
    weights: Tensor
    """[B, H, T, T]"""
    context: Tensor
    """[B, H, T, K]"""


def cast_mask(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return an additive mask in another floating-point format, finite there too.

    float32's lowest number is -inf in bfloat16, and a query that may attend to no token, such as
    padding far from the text under a window, would get NaN weights.
    """
    return mask.clamp(min=torch.finfo(dtype).min).to(dtype)


def attention_scores(queries: Tensor, keys: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return queries . keys / sqrt(K), [..., H, T, T], from queries and keys [..., H, T, K].

    Scales the queries, not the scores: T x K numbers instead of T x T.
    """
    scaled = queries * (1.0 / math.sqrt(queries.shape[-1]))
    return torch.matmul(scaled, keys.transpose(-1, -2), out=out)


def attention_explicit(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    buffers: AttentionBuffers | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend step by step and return the weights. For traces; no dropout.

    Args:
        queries, keys, values: [B, H, T, K].
        mask: Additive mask, broadcastable to [B, H, T, T], or None.
        buffers: Memory to write to, without gradients; None allocates it.

    Returns:
        Context [B, H, T, K] and weights [B, H, T, T], whose rows sum to 1.

    Source: Vaswani et al. 2017, equation 1.
    """
    to_scores, to_weights, to_context = buffers or (None, None, None)
    scores = attention_scores(queries, keys, out=to_scores)
    if mask is not None:
        scores += mask
    weights = torch.softmax(scores, dim=-1, out=to_weights)
    context = torch.matmul(weights, values, out=to_context)
    return context, weights


def attention_fused(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """Attend in one fused call; the same context as attention_explicit, without the weights."""
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=dropout)


def attention_kept(kept: list[Tensor]) -> AttentionFunction:
    """Return an attention function that appends each layer's weights [B, H, T, T] to a list.

    For networks in evaluation mode: the weights have no dropout.
    """

    def attend(
        queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float = 0.0
    ) -> Tensor:
        context, weights = attention_explicit(queries, keys, values, mask)
        kept.append(weights)
        return context

    return attend


def attention_in_products(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """Attend with two batched products, the fast way to train in bfloat16 on a CPU.

    There, the fused call's backward pass has no bfloat16 products and takes three times as long;
    the weights [B, H, T, T] that this keeps for it are small in short rows.
    """
    scores = attention_scores(queries, keys)
    if mask is not None:
        scores = scores + cast_mask(mask, scores.dtype)
    weights = F.dropout(torch.softmax(scores, dim=-1), dropout)
    return weights @ values


class AttentionBlock(nn.Module, ABC):
    """Self-attention of a layer: the common part of BERT's and ModernBERT's."""

    num_heads: int
    output: nn.Linear
    hidden_dropout: float
    attention_dropout: float

    def heads(self, projected: Tensor) -> Tensor:
        """Return projected [..., T, D] as a view by head, [..., H, T, K]."""
        # [..., T, D] -> [..., T, H, K] -> [..., H, T, K]
        apart = projected.view(*projected.shape[:-1], self.num_heads, -1)
        return apart.transpose(-3, -2)

    @abstractmethod
    def project(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the final queries, keys and values, each [B, H, T, K], of hidden."""

    @abstractmethod
    def project_at(self, hidden: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the query of one token of each text, [B, H, 1, K], and all keys and values."""

    @abstractmethod
    def project_into(self, hidden: Tensor, queries: Tensor, keys: Tensor, values: Tensor) -> None:
        """Write the queries, keys and values of hidden [T, D] to three tensors [T, D].

        The same numbers as `project`, before they are split into heads; without gradients.
        """

    @property
    @abstractmethod
    def output_norm(self) -> nn.LayerNorm | None:
        """The LayerNorm after projection and residual; None if norms come before blocks."""

    def allowed(self, num_tokens: int) -> Tensor | None:
        """Return which tokens each token may attend to in this layer, bool [T, T]; None: all.

        True = may be attended to; row = query token; on the device of the weights.
        """
        return None

    def masked(self, mask: Tensor | None, num_tokens: int) -> Tensor | None:
        """Return this layer's additive mask, given the mask of all layers."""
        allowed = self.allowed(num_tokens)
        if allowed is None:
            return mask
        weight = self.output.weight
        if mask is None:
            mask = torch.zeros(allowed.shape, dtype=weight.dtype, device=weight.device)
        return mask.masked_fill(~allowed, torch.finfo(mask.dtype).min)

    def combine(self, context: Tensor, hidden: Tensor) -> Tensor:
        """Join the heads, project, add the residual (and normalise): [B, T, D]."""
        return self.add(self.write(context), hidden)

    def write(self, context: Tensor) -> Tensor:
        """Return the block's contribution, [B, T, D], from the heads' context [B, H, T, K]."""
        joined = context.transpose(-3, -2).flatten(-2)  # [B, H, T, K] -> [B, T, D]
        out: Tensor = self.output(joined)
        return F.dropout(out, self.hidden_dropout) if self.training else out

    def add(self, written: Tensor, hidden: Tensor) -> Tensor:
        """Add the block's contribution to its input (and normalise): [B, T, D]."""
        norm = self.output_norm
        return written + hidden if norm is None else norm(written + hidden)

    def forward(self, hidden: Tensor, mask: Tensor | None, attention: AttentionFunction) -> Tensor:
        """Return the block's output, [B, T, D], of hidden [B, T, D] and an additive mask."""
        queries, keys, values = self.project(hidden)
        dropout = self.attention_dropout if self.training else 0.0
        mask = self.masked(mask, hidden.shape[-2])
        return self.combine(attention(queries, keys, values, mask, dropout), hidden)


class SelfAttention(AttentionBlock):
    """Queries, keys, values of all heads, and the projection after them, with residual and norm.

    Post-LN, as in BERT: LayerNorm(hidden + projection(context)).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.query = empty_linear(d, d)
        self.key = empty_linear(d, d)
        self.value = empty_linear(d, d)
        self.output = empty_linear(d, d)
        self.norm = nn.LayerNorm(d, config.layer_norm_eps)
        self.num_heads = config.num_attention_heads
        self.hidden_dropout = config.hidden_dropout_prob
        self.attention_dropout = config.attention_probs_dropout_prob
        self.is_causal = config.is_decoder

    def allowed(self, num_tokens: int) -> Tensor | None:
        if not self.is_causal:
            return None
        device = self.output.weight.device
        return torch.ones(num_tokens, num_tokens, dtype=torch.bool, device=device).tril()

    def project(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return (
            self.heads(self.query(hidden)),
            self.heads(self.key(hidden)),
            self.heads(self.value(hidden)),
        )

    def project_at(self, hidden: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys, values = self.heads(self.key(hidden)), self.heads(self.value(hidden))
        return self.heads(self.query(tokens_at(hidden, places))), keys, values

    def project_into(self, hidden: Tensor, queries: Tensor, keys: Tensor, values: Tensor) -> None:
        for linear, out in ((self.query, queries), (self.key, keys), (self.value, values)):
            torch.addmm(linear.bias, hidden, linear.weight.T, out=out)

    @property
    def output_norm(self) -> nn.LayerNorm:
        return self.norm
