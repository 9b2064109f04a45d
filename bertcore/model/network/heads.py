"""The pooler and the heads of the pretraining tasks."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network.empty import empty_linear, layer_norm
from bertcore.model.network.feed_forward import activate


class Pooler(nn.Module):
    """tanh(W h_[CLS] + b): the sentence vector that the next-sentence head reads."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = empty_linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Return the pooled vector, [B, D], of the last hidden state [B, T, D]."""
        return torch.tanh(self.dense(hidden[..., 0, :]))


class Decoder(nn.Module):
    """Logits from vectors, usually with a bias.

    Its matrix is the token table, which belongs to the embeddings (tied), or `weight` (untied).
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.num_words, width = config.vocab_size, config.embedding_width
        is_tied, has_bias = config.tie_word_embeddings, config.has_bias("decoder_bias")
        self.weight = None if is_tied else nn.Parameter(torch.empty(self.num_words, width))
        self.bias = nn.Parameter(torch.zeros(self.num_words)) if has_bias else None

    def table(self, word_embeddings: Tensor) -> Tensor:
        """Return the decoder's matrix, [V, E], given the token table."""
        return word_embeddings if self.weight is None else self.weight

    def forward(self, vectors: Tensor, word_embeddings: Tensor) -> Tensor:
        """Return logits, [..., V], of vectors [..., E], given the token table [V, E]."""
        return F.linear(vectors, self.table(word_embeddings), self.bias)


class MaskedWordHead(nn.Module):
    """Linear, activation, LayerNorm, then usually the token table itself as decoder, plus a bias.

    Source: google-research/bert run_pretraining.py, get_masked_lm_output.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d, e = config.hidden_size, config.embedding_width
        self.dense = empty_linear(d, e, bias=config.has_bias("classifier_bias"))
        self.norm = layer_norm(config, e)
        self.decoder = Decoder(config)
        self.activation = config.mlm_act

    def transform(self, hidden: Tensor) -> Tensor:
        """Return the decoder's input, [..., E], from hidden [..., D]."""
        out: Tensor = self.norm(activate(self.dense(hidden), self.activation))
        return out

    @property
    def word_bias(self) -> Tensor:
        """The decoder's bias, [V]; zeros if it has none."""
        bias = self.decoder.bias
        return self.dense.weight.new_zeros(self.decoder.num_words) if bias is None else bias

    def forward(self, hidden: Tensor, word_embeddings: Tensor) -> Tensor:
        """Return logits over the vocabulary, [..., V], of hidden [..., D] and the table [V, E]."""
        logits: Tensor = self.decoder(self.transform(hidden), word_embeddings)
        return logits


class PairHead(nn.Module):
    """Two logits from the pooled vector.

    Next sentence: 0, B follows A; 1, B is random. Sentence order (ALBERT): 0, A comes before B;
    1, they were exchanged.

    Source: Devlin et al. 2019, section 3.1; Lan et al. 2020, section 3.1.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.classifier = empty_linear(config.hidden_size, 2)

    def forward(self, pooled: Tensor) -> Tensor:
        """Return logits [B, 2] of pooled [B, D]."""
        logits: Tensor = self.classifier(pooled)
        return logits


class ReplacedTokenHead(nn.Module):
    """Linear, activation, then one logit for each token: was it inserted by a generator?

    Source: Clark et al. 2020 (ELECTRA), section 2; google-research/electra, model code of the
        discriminator: one hidden layer of width D.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        d = config.hidden_size
        self.dense = empty_linear(d, d)
        self.classifier = empty_linear(d, 1)
        self.activation = config.hidden_act

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits, [..., T], of hidden [..., T, D]; above 0: replaced."""
        logits: Tensor = self.classifier(activate(self.dense(hidden), self.activation))
        return logits[..., 0]
