"""The interface of an encoder with a task head, our own and those that `transformers` runs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bertcore.model.network.attention import AttentionFunction, attention_fused
from bertcore.model.network.protocol import Encoder


class TaskModule(nn.Module, ABC):
    """An encoder and one task head.

    `TaskNetwork` is our own; `OtherTaskNetwork` wraps a class of `transformers` with its own head.
    """

    network: Encoder
    kind: str
    """One of HEAD_KINDS."""
    lstm: nn.LSTM | None
    """The BiLSTM of a head on features."""

    @property
    @abstractmethod
    def device(self) -> torch.device:
        """The device of the weights."""

    @property
    @abstractmethod
    def reads_one_state(self) -> bool:
        """Whether `encode` returns a single state for each row, [R, 1, D]."""

    @property
    def state_width(self) -> int:
        """Width of what `encode` returns for a token."""
        return self.network.config.hidden_size

    @abstractmethod
    def encode(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return the encoder states that the head reads, of R rows, one per choice.

        [R, 1, D] if the head reads one state, otherwise those of all tokens, [R, T, D].
        """

    @abstractmethod
    def read(self, hidden: Tensor, attention_mask: Tensor | None, lead: Sequence[int]) -> Tensor:
        """Return the logits of `forward` from the result of `encode`.

        `lead` is the shape of the input without its tokens: [B], or [B, N] for choices.
        """

    @abstractmethod
    def logits_of(self, hidden: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """Return logits, [..., C] or [..., T, C], of hidden states [..., T, D] of all tokens.

        States of any layer: the head reads them as it reads the last hidden states. True in the
        mask [..., T] is a token.
        """

    @abstractmethod
    def head_tensors(self) -> dict[str, Tensor]:
        """Return the tensors of the head under their names in files."""

    @abstractmethod
    def is_of_head(self, name: str) -> bool:
        """Return whether a parameter belongs to the head or its pooler, not to the encoder."""

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
            input_ids, segment_ids: int64, [B, T]; for choices [B, N, T].
            attention_mask: True at tokens, same shape; None means attend to all.
            attention: How to attend; models of `transformers` have their own way.

        Returns:
            [B, C] ("sequence", "text-features"), [B, T, C] ("token", "features"), [B, T, 2]
            ("span"), [B, N] ("choice").
        """
        hidden = self.encode(input_ids, segment_ids, attention_mask, attention=attention)
        return self.read(hidden, attention_mask, input_ids.shape[:-1])
