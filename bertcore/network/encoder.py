"""BERT's network: embeddings, a stack of layers, and the heads that a checkpoint has."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bertcore.config import BertConfig
from bertcore.network.attention import (
    AttentionFunction,
    SelfAttention,
    additive_mask,
    attention_fused,
)
from bertcore.network.embeddings import Embeddings
from bertcore.network.feed_forward import FeedForward
from bertcore.network.heads import MaskedWordHead, NextSentenceHead, Pooler

ALL_HEADS = frozenset({"pooler", "mlm", "nsp"})


class Layer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.feed_forward = FeedForward(config)

    def forward(self, hidden: Tensor, mask: Tensor | None, attention: AttentionFunction) -> Tensor:
        """Return the layer's output, [B, T, D]."""
        out: Tensor = self.feed_forward(self.attention(hidden, mask, attention))
        return out


class Network(nn.Module):
    """All parameters of one BERT and the ways through them.

    Args:
        config: The shape.
        heads: Which of "pooler", "mlm", "nsp" exist; a missing head is None. Checkpoints that
            were fine-tuned or stripped lack some.

    The weights start empty: fill them with `initialize` or from a checkpoint.
    """

    def __init__(self, config: BertConfig, heads: frozenset[str] = ALL_HEADS) -> None:
        super().__init__()
        if not heads <= ALL_HEADS or ("nsp" in heads and "pooler" not in heads):
            raise ValueError(
                f"heads {sorted(heads)} cannot be built; expected a choice of {sorted(ALL_HEADS)}, "
                "and nsp needs pooler."
            )
        self.config = config
        self.embeddings = Embeddings(config)
        layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.layers = layers  # type: ignore[assignment]  # typed by its content, below
        self.pooler = Pooler(config) if "pooler" in heads else None
        self.mlm = MaskedWordHead(config) if "mlm" in heads else None
        self.nsp = NextSentenceHead(config) if "nsp" in heads else None

    layers: Sequence[Layer]

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
        num_layers: int | None = None,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D].

        Args:
            input_ids: int64, [B, T].
            segment_ids: int64, [B, T]; None means all 0.
            attention_mask: True = attend, [B, T] or [B, T, T]; None means attend to all.
            position_ids: int64, [B, T] or [T]; None means 0, 1, 2, ...
            attention: How to attend; the fused function by default.
            num_layers: Stop after this many layers (0: the embeddings' output); None runs all.

        Raises:
            ValueError: If the input is longer than the position table.
        """
        segment_ids, position_ids = self.default_ids(input_ids, segment_ids, position_ids)
        hidden: Tensor = self.embeddings(input_ids, segment_ids, position_ids)
        mask = None if attention_mask is None else additive_mask(attention_mask, hidden.dtype)
        for layer in self.layers[:num_layers]:
            hidden = layer(hidden, mask, attention)
        return hidden

    def default_ids(
        self, input_ids: Tensor, segment_ids: Tensor | None, position_ids: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Fill in segment 0 and positions 0, 1, 2, ... where they are not given."""
        num_tokens, limit = input_ids.shape[-1], self.config.max_position_embeddings
        if num_tokens > limit and position_ids is None:
            raise ValueError(
                f"sequence has {num_tokens} tokens but this checkpoint has {limit} position "
                f"embeddings. Shorten the text or pass max_length={limit}."
            )
        if segment_ids is None:
            segment_ids = torch.zeros_like(input_ids)
        if position_ids is None:
            position_ids = torch.arange(num_tokens, device=input_ids.device)
        return segment_ids, position_ids

    def mlm_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], of hidden states [..., D].

        Raises:
            ValueError: If this checkpoint has no masked-word head.
        """
        out: Tensor = self.masked_word_head()(hidden, self.embeddings.word_embeddings)
        return out

    def masked_word_head(self) -> MaskedWordHead:
        """Return the masked-word head.

        Raises:
            ValueError: If this checkpoint has none.
        """
        if self.mlm is None:
            raise ValueError(
                "this checkpoint has no masked-word (MLM) head, so it cannot predict words. "
                "Open a pretrained checkpoint such as 'default'."
            )
        return self.mlm

    def pooled(self, hidden: Tensor) -> Tensor:
        """Return the pooled [CLS] vector, [B, D], of the last hidden state [B, T, D].

        Raises:
            ValueError: If this checkpoint has no pooler.
        """
        if self.pooler is None:
            raise ValueError(
                "this checkpoint has no pooler, so it has no sentence vector. "
                "Open a checkpoint with a pooler such as 'default'."
            )
        out: Tensor = self.pooler(hidden)
        return out

    def nsp_logits(self, hidden: Tensor) -> Tensor:
        """Return next-sentence logits, [B, 2] (0: follows, 1: random), of hidden [B, T, D].

        Raises:
            ValueError: If this checkpoint has no next-sentence head.
        """
        if self.nsp is None:
            raise ValueError(
                "this checkpoint has no next-sentence (NSP) head. "
                "Open a pretrained checkpoint such as 'default'."
            )
        out: Tensor = self.nsp(self.pooled(hidden))
        return out
