"""The input of BERT: token, segment and position embeddings, summed and normalised."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network.empty import empty_embedding, empty_linear, layer_norm


def sinusoids(num_positions: int, width: int) -> Tensor:
    """Return sines and cosines of falling frequency side by side, [num_positions, width].

    Source: Vaswani et al. 2017, section 3.5.
    """
    angles = torch.arange(num_positions)[:, None] * frequencies(width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]


def frequencies(width: int) -> Tensor:
    """Return the angle between adjacent positions for each pair of `sinusoids`, [width / 2]."""
    half = (width + 1) // 2
    return torch.exp(-math.log(10_000.0) * torch.arange(half) / half)


class EmbeddingParts(NamedTuple):
    """The embeddings of an input before they are summed, each [..., T, E]; E is D in BERT."""

    token: Tensor
    segment: Tensor | None
    """None if the family has no segments (DistilBERT)."""
    position: Tensor | None
    """None if positions are not vectors (ModernBERT)."""

    @property
    def sum(self) -> Tensor:
        """The sum that LayerNorm receives, [..., T, E].

        Added in the order of Hugging Face's BERT, so that float32 sums agree bit for bit.
        """
        summed = self.token if self.segment is None else self.token + self.segment
        return summed if self.position is None else summed + self.position


class Embeddings(nn.Module):
    """The three tables, the LayerNorm after their sum, and in some families a matrix from E to D.

    Source: Devlin et al. 2019, section 3 and figure 2; the matrix: Lan et al. 2020, section 3.1
        (ALBERT), and Clark et al. 2020, section 3.2 (ELECTRA).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d, e = config.hidden_size, config.embedding_width
        segments = config.type_vocab_size
        self.word_embeddings = empty_embedding(config.vocab_size, e)  # [V, E]
        self.token_type_embeddings = empty_embedding(segments, e) if segments else None
        has_table = config.position_embedding != "rotary"
        self.position_embeddings = (
            empty_embedding(config.max_position_embeddings, e) if has_table else None
        )
        if self.position_embeddings is not None:
            self.position_embeddings.requires_grad_(config.position_embedding == "learned")
        self.norm = layer_norm(config, e)
        self.projection = None if config.embedding_size is None else empty_linear(e, d)
        self.dropout = config.hidden_dropout_prob

    def look_up(
        self, input_ids: Tensor, segment_ids: Tensor, position_ids: Tensor
    ) -> EmbeddingParts:
        """Return the three embeddings of each token separately; ids are int64, [..., T]."""
        segments, positions = self.token_type_embeddings, self.position_embeddings
        return EmbeddingParts(
            token=self.word_embeddings(input_ids),
            segment=None if segments is None else segments(segment_ids),
            position=None if positions is None else positions(position_ids),
        )

    def normalize(self, summed: Tensor) -> Tensor:
        """Return LayerNorm of the sum, [..., T, E] (with dropout in training)."""
        return F.dropout(self.norm(summed), self.dropout, self.training)

    def project(self, normalized: Tensor) -> Tensor:
        """Return the encoder's input, [..., T, D], from `normalize`'s result [..., T, E]."""
        if self.projection is None:
            return normalized
        out: Tensor = self.projection(normalized)
        return out

    def forward(self, input_ids: Tensor, segment_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Return the encoder's input, [B, T, D]; ids are int64, [B, T]."""
        parts = self.look_up(input_ids, segment_ids, position_ids)
        return self.project(self.normalize(parts.sum))
