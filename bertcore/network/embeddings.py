"""The input of BERT: token, segment and position embeddings, summed and normalised."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.config import BertConfig


class EmbeddingParts(NamedTuple):
    """The three embeddings of an input before they are summed, each [..., T, D]."""

    token: Tensor
    segment: Tensor
    position: Tensor

    @property
    def sum(self) -> Tensor:
        """The sum that LayerNorm receives, [..., T, D].

        Added in the order of Hugging Face's BERT, so that float32 sums agree to the last bit.
        """
        return (self.token + self.segment) + self.position


class Embeddings(nn.Module):
    """The three tables and the LayerNorm after their sum.

    Source: Devlin et al. 2019, section 3 and figure 2.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.word_embeddings = nn.Parameter(torch.empty(config.vocab_size, d))  # [V, D]
        self.token_type_embeddings = nn.Parameter(torch.empty(config.type_vocab_size, d))
        self.position_embeddings = nn.Parameter(torch.empty(config.max_position_embeddings, d))
        self.norm_weight = nn.Parameter(torch.ones(d))
        self.norm_bias = nn.Parameter(torch.zeros(d))
        self.eps = config.layer_norm_eps
        self.dropout = config.hidden_dropout_prob

    def look_up(
        self, input_ids: Tensor, segment_ids: Tensor, position_ids: Tensor
    ) -> EmbeddingParts:
        """Return the three embeddings of each token, apart; ids are int64, [..., T]."""
        return EmbeddingParts(
            token=F.embedding(input_ids, self.word_embeddings),
            segment=F.embedding(segment_ids, self.token_type_embeddings),
            position=F.embedding(position_ids, self.position_embeddings),
        )

    def normalize(self, summed: Tensor) -> Tensor:
        """Return LayerNorm of the sum, [..., T, D] (with dropout in training)."""
        d = summed.shape[-1]
        out = F.layer_norm(summed, (d,), self.norm_weight, self.norm_bias, self.eps)
        return F.dropout(out, self.dropout, self.training)

    def forward(self, input_ids: Tensor, segment_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Return the encoder's input, [B, T, D]; ids are int64, [B, T]."""
        return self.normalize(self.look_up(input_ids, segment_ids, position_ids).sum)
