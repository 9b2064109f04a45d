"""Task heads: a label for a text or for each token, a span, a choice.

Each is the head of a class of `transformers` with the same weights, so that checkpoints open there.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from bertcore.config import BertConfig
from bertcore.network.attention import AttentionFunction, additive_mask, attention_fused
from bertcore.network.empty import empty_linear
from bertcore.network.encoder import Network, collect_into

HEAD_KINDS = ("sequence", "token", "span", "choice", "features")
NUM_FEATURE_LAYERS = 4
_NEEDS_POOLER = frozenset({"sequence", "choice"})


class TaskHead(nn.Module):
    """Dropout and one linear layer.

    Args:
        config: Gives D and the dropout.
        num_outputs: C: classes of a text or token, 1 for a score or a choice, 2 for a span.
        dropout: Before the layer; None takes the config's `hidden_dropout_prob`.
    """

    def __init__(
        self, config: BertConfig, num_outputs: int, *, dropout: float | None = None
    ) -> None:
        super().__init__()
        self.classifier = empty_linear(config.hidden_size, num_outputs)
        self.dropout = config.hidden_dropout_prob if dropout is None else dropout

    def forward(self, vectors: Tensor) -> Tensor:
        """Return logits, [..., C], of vectors [..., D]."""
        logits: Tensor = self.classifier(F.dropout(vectors, self.dropout, self.training))
        return logits


class TaskNetwork(nn.Module):
    """An encoder and one task head.

    Args:
        network: With a pooler for the kinds "sequence" and "choice".
        kind: "sequence": one label or score a text, from the pooled [CLS]
            (BertForSequenceClassification). "token": a label for each token
            (BertForTokenClassification). "span": logits of an answer's start and end
            (BertForQuestionAnswering). "choice": one score a choice (BertForMultipleChoice).
            "features": a label for each token from a BiLSTM over the last four layers, which stay
            as they are; `transformers` has no such class.
        num_outputs: C of "sequence", "token" and "features"; "span" has 2 and "choice" 1.

    The head starts empty: fill it with `initialize_head` or from a checkpoint.

    Raises:
        ValueError: If the kind is unknown, or the network lacks the pooler.

    Source: Devlin et al. 2019, section 4; "features": section 5.3 (two layers of BiLSTM, as wide as
        the encoder: half for each direction).
    """

    def __init__(self, network: Network, kind: str, num_outputs: int) -> None:
        super().__init__()
        if kind not in HEAD_KINDS:
            raise ValueError(f"kind is {kind!r}; expected one of {', '.join(HEAD_KINDS)}.")
        if kind in _NEEDS_POOLER and network.pooler is None:
            raise ValueError(
                f"a head of kind {kind!r} reads the pooler, which this checkpoint lacks. "
                "Open one with a pooler such as 'default'."
            )
        self.network, self.kind = network, kind
        # Hugging Face's span head has no dropout.
        self.head = TaskHead(network.config, num_outputs, dropout=0.0 if kind == "span" else None)
        self.lstm: nn.LSTM | None = None
        if kind == "features":
            d = network.config.hidden_size
            depth = min(NUM_FEATURE_LAYERS, network.config.num_hidden_layers)
            self.lstm = nn.LSTM(
                depth * d, d // 2, num_layers=2, batch_first=True, bidirectional=True
            )
            # For an odd width the two directions together are one short.
            if d % 2:
                raise ValueError(f"hidden_size is {d}; the BiLSTM needs an even width.")

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.head.classifier.weight.device

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return logits.

        Args:
            input_ids, segment_ids: int64, [B, T]; of choices [B, N, T].
            attention_mask: True at tokens, same shape; None means attend to all.
            attention: How to attend.

        Returns:
            [B, C] ("sequence"), [B, T, C] ("token", "features"), [B, T, 2] ("span"),
            [B, N] ("choice").
        """
        hidden = self.encode(input_ids, segment_ids, attention_mask, attention=attention)
        return self.read(hidden, attention_mask, input_ids.shape[:-1])

    def encode(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return the encoder states that the head reads, of R rows, one per choice.

        Args:
            input_ids, segment_ids, attention_mask, attention: As for `forward`.

        Returns:
            The last state of [CLS], [R, 1, D] ("sequence", "choice"), of all tokens, [R, T, D]
            ("token", "span"), or the last four layers' states side by side, [R, T, 4 D]
            ("features").
        """
        # Choices are rows of their own: [B, N, T] -> [B * N, T].
        ids, segments, mask = (
            None if x is None else x.flatten(0, -2)
            for x in (input_ids, segment_ids, attention_mask)
        )
        assert ids is not None
        if self.kind in _NEEDS_POOLER:
            return encode_first_token(self.network, ids, segments, mask, attention=attention)
        if self.lstm is not None:
            return last_layers(self.network, ids, segments, mask, attention=attention)
        hidden: Tensor = self.network(ids, segments, mask, attention=attention)
        return hidden

    def read(self, hidden: Tensor, attention_mask: Tensor | None, lead: Sequence[int]) -> Tensor:
        """Return the logits of `forward` from what `encode` returns.

        Args:
            hidden: Of `encode`.
            attention_mask: As for `forward`.
            lead: Shape of the input without its tokens: [B], of choices [B, N].
        """
        if self.kind in _NEEDS_POOLER:
            logits: Tensor = self.head(self.network.pooled(hidden))
            return logits.view(*lead) if self.kind == "choice" else logits
        if self.lstm is not None:
            hidden = _run_lstm(self.lstm, hidden, attention_mask)
        logits = self.head(hidden)
        return logits


def encode_first_token(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor | None,
    attention_mask: Tensor | None,
    *,
    attention: AttentionFunction = attention_fused,
) -> Tensor:
    """Return the last hidden state of [CLS] alone, [B, 1, D].

    The pooler reads no other state, so in the last layer only [CLS] has a query: the same numbers
    as the first token's of `Network.forward`, with a quarter less work in four layers.

    Args:
        network: The encoder.
        input_ids, segment_ids, attention_mask: As for `Network.forward`, [B, T].
        attention: How to attend.
    """
    hidden: Tensor = network(
        input_ids,
        segment_ids,
        attention_mask,
        attention=attention,
        num_layers=network.config.num_hidden_layers - 1,
    )
    block = network.layers[-1].attention
    mask = None if attention_mask is None else additive_mask(attention_mask, hidden.dtype)
    first = hidden[:, :1]
    queries = block.heads(block.query(first))  # [B, H, 1, K]
    keys, values = block.heads(block.key(hidden)), block.heads(block.value(hidden))
    dropout = block.attention_dropout if block.training else 0.0
    context = attention(queries, keys, values, mask, dropout)
    out: Tensor = network.layers[-1].feed_forward(block.combine(context, first))
    return out


@torch.no_grad()
def last_layers(
    network: Network,
    input_ids: Tensor,
    segment_ids: Tensor | None,
    attention_mask: Tensor | None,
    *,
    attention: AttentionFunction = attention_fused,
) -> Tensor:
    """Return the last four hidden states side by side, [B, T, 4 D], without gradients.

    Of a network with fewer layers all of them.
    """
    hidden, mask = network.embed(input_ids, segment_ids, attention_mask)
    states: list[Tensor] = []
    network.run_layers(hidden, mask, attention, after=collect_into(states))
    return torch.cat(states[-NUM_FEATURE_LAYERS:], dim=-1)


def _run_lstm(lstm: nn.LSTM, features: Tensor, mask: Tensor | None) -> Tensor:
    """Return the LSTM's states, [B, T, D]; padding is left out, and 0 in the result."""
    with torch.autocast(features.device.type, enabled=False):
        features = features.float()
        if mask is None:
            plain: Tensor = lstm(features)[0]
            return plain
        lengths = mask.sum(-1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            features, lengths, batch_first=True, enforce_sorted=False
        )
        states: Tensor = nn.utils.rnn.pad_packed_sequence(
            lstm(packed)[0], batch_first=True, total_length=features.shape[1]
        )[0]
        return states


@torch.no_grad()
def initialize_head(model: TaskNetwork, generator: Generator) -> None:
    """Draw the head's weights as `initialize` does and set its biases to 0; a BiLSTM's as torch."""
    std = model.network.config.initializer_range
    nn.init.trunc_normal_(
        model.head.classifier.weight, 0.0, std, -2 * std, 2 * std, generator=generator
    )
    nn.init.zeros_(model.head.classifier.bias)
    if model.lstm is not None:
        bound = model.lstm.hidden_size**-0.5
        for parameter in model.lstm.parameters():
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
