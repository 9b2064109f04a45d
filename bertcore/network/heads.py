"""What is read off the encoder: the pooled [CLS], the masked-word head, the next-sentence head."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.config import BertConfig
from bertcore.network.feed_forward import activate


class Pooler(nn.Module):
    """tanh(W h_[CLS] + b): the sentence's vector that the next-sentence head reads."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.weight = nn.Parameter(torch.empty(d, d))
        self.bias = nn.Parameter(torch.zeros(d))

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the pooled vector, [B, D], of the last hidden state [B, T, D]."""
        return torch.tanh(F.linear(hidden[..., 0, :], self.weight, self.bias))


class MaskedWordHead(nn.Module):
    """Linear, activation, LayerNorm, then the token table itself as decoder, plus a bias.

    Source: google-research/bert run_pretraining.py, get_masked_lm_output.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.transform_weight = nn.Parameter(torch.empty(d, d))
        self.transform_bias = nn.Parameter(torch.zeros(d))
        self.norm_weight = nn.Parameter(torch.ones(d))
        self.norm_bias = nn.Parameter(torch.zeros(d))
        self.decoder_bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.eps = config.layer_norm_eps
        self.activation = config.hidden_act

    def transform(self, hidden: Tensor) -> Tensor:
        """Return what the decoder reads, [..., D], of hidden [..., D]."""
        x = activate(F.linear(hidden, self.transform_weight, self.transform_bias), self.activation)
        return F.layer_norm(x, (x.shape[-1],), self.norm_weight, self.norm_bias, self.eps)

    def forward(self, hidden: Tensor, word_embeddings: Tensor) -> Tensor:
        """Return logits over the vocabulary, [..., V], of hidden [..., D] and the table [V, D]."""
        return F.linear(self.transform(hidden), word_embeddings, self.decoder_bias)


class NextSentenceHead(nn.Module):
    """Two logits from the pooled vector. Index 0: B follows A. Index 1: B is random."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, config.hidden_size))
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(self, pooled: Tensor) -> Tensor:
        """Return logits [B, 2] of pooled [B, D]."""
        return F.linear(pooled, self.weight, self.bias)
