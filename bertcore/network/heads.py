"""What is read off the encoder: the pooled [CLS], and the heads of the pretraining tasks."""

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
        d, e = config.hidden_size, config.embedding_width
        self.transform_weight = nn.Parameter(torch.empty(e, d))
        self.transform_bias = nn.Parameter(torch.zeros(e))
        self.norm_weight = nn.Parameter(torch.ones(e))
        self.norm_bias = nn.Parameter(torch.zeros(e))
        self.decoder_bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.eps = config.layer_norm_eps
        self.activation = config.mlm_act

    def transform(self, hidden: Tensor) -> Tensor:
        """Return what the decoder reads, [..., E], of hidden [..., D]."""
        x = activate(F.linear(hidden, self.transform_weight, self.transform_bias), self.activation)
        return F.layer_norm(x, (x.shape[-1],), self.norm_weight, self.norm_bias, self.eps)

    def forward(self, hidden: Tensor, word_embeddings: Tensor) -> Tensor:
        """Return logits over the vocabulary, [..., V], of hidden [..., D] and the table [V, E]."""
        return F.linear(self.transform(hidden), word_embeddings, self.decoder_bias)


class PairHead(nn.Module):
    """Two logits from the pooled vector.

    Next sentence: 0, B follows A; 1, B is random. Sentence order (ALBERT): 0, A comes before B;
    1, they were exchanged.

    Source: Devlin et al. 2019, section 3.1; Lan et al. 2020, section 3.1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(2, config.hidden_size))
        self.bias = nn.Parameter(torch.zeros(2))

    def forward(self, pooled: Tensor) -> Tensor:
        """Return logits [B, 2] of pooled [B, D]."""
        return F.linear(pooled, self.weight, self.bias)


class ReplacedTokenHead(nn.Module):
    """Linear, activation, then one logit for each token: was it put there by a generator?

    Source: Clark et al. 2020 (ELECTRA), section 2; google-research/electra, model code of the
        discriminator: one hidden layer of width D.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.transform_weight = nn.Parameter(torch.empty(d, d))
        self.transform_bias = nn.Parameter(torch.zeros(d))
        self.weight = nn.Parameter(torch.empty(1, d))
        self.bias = nn.Parameter(torch.zeros(1))
        self.activation = config.hidden_act

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits, [..., T], of hidden [..., T, D]; above 0: replaced."""
        x = activate(F.linear(hidden, self.transform_weight, self.transform_bias), self.activation)
        return F.linear(x, self.weight, self.bias)[..., 0]
