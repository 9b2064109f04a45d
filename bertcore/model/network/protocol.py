"""The interface of every encoder, our own and those that `transformers` runs."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig
from bertcore.model.architecture.families import Capability
from bertcore.model.network.embeddings import EmbeddingParts


class Encoder(Protocol):
    """An encoder in evaluation mode with the heads that its checkpoint has.

    `Network` is our own, whose layers can be read and changed; `OtherNetwork` wraps a model of
    `transformers`. A method that needs an absent head raises ValueError with the reason.
    """

    @property
    def config(self) -> BertConfig:
        """The shape."""

    @property
    def token_table(self) -> Tensor:
        """The token embeddings, [V, E]."""

    @property
    def position_table(self) -> Tensor:
        """The position embeddings, [P, E]; raises ValueError if there are none."""

    def __call__(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        /,
        *,
        num_layers: int | None = None,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D], or that after `num_layers` layers."""

    def look_up(self, input_ids: Tensor, segment_ids: Tensor) -> EmbeddingParts:
        """Return the embeddings of an input before they are summed; ids are int64, [B, T]."""

    def run_embedded(
        self,
        embedded: EmbeddingParts,
        input_ids: Tensor,
        segment_ids: Tensor,
        attention_mask: Tensor | None = None,
        *,
        after: Callable[[int, Tensor], Tensor],
    ) -> Tensor:
        """Return the last hidden state, [B, T, D], for embeddings instead of those of an input."""

    def every_state(self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return all hidden states of a padded batch, [L+1, B, T, D]."""

    def every_attention(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor
    ) -> Tensor:
        """Return the attention weights of a padded batch, float32 [L, B, H, T, T]."""

    def word_states(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the masked-word head's input at each token, [B, T, D]."""

    def word_states_at(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor | None, places: Tensor
    ) -> Tensor:
        """Return the masked-word head's input at one position of each text, [B, D]."""

    def read_early(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ...] in the form of the last, on which heads were trained."""

    def mlm_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], of hidden states [..., D]."""

    def next_logits(self, hidden: Tensor) -> Tensor:
        """Return logits of the token after each, [..., V], of hidden states [..., D]."""

    def pooled(self, hidden: Tensor) -> Tensor:
        """Return the pooled [CLS] vector, [B, D], of the last hidden state [B, T, D]."""

    def nsp_logits(self, hidden: Tensor) -> Tensor:
        """Return next-sentence logits, [B, 2] (0: follows, 1: random), of hidden [B, T, D]."""

    def sop_logits(self, hidden: Tensor) -> Tensor:
        """Return sentence-order logits, [B, 2] (0: in order, 1: exchanged), of [B, T, D]."""

    def replaced_logits(self, hidden: Tensor) -> Tensor:
        """Return replaced-token logits, [..., T] (above 0: replaced), of hidden [..., T, D]."""

    def why_no_head(self, head: Capability) -> str | None:
        """Return the reason why a head is absent, as a sentence; None if it is present."""

    @property
    def training(self) -> bool:
        """Whether dropout is on."""

    def train(self, mode: bool = True) -> Any:
        """Turn dropout on or off."""

    def eval(self) -> Any:
        """Turn dropout off."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Yield each weight once."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield each weight once, with its name."""

    def buffers(self) -> Iterator[torch.Tensor]:
        """Yield the tensors that are not weights."""
