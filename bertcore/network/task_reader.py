"""Apply the head of a fine-tuned checkpoint of any family to the last hidden states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore.network.protocol import Encoder

READER_KINDS = ("classes", "labels", "score", "tags", "span")
"""One class of several for a text; several labels at once, each yes or no; a number; a tag for
each token; start and end of an answer."""

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "relu": F.relu,
    "gelu": F.gelu,
}


@dataclass(frozen=True, slots=True)
class Dense:
    """A layer on the state of [CLS] before the classifier, where the family has no pooler there."""

    weight: Tensor
    """[D, D]"""
    bias: Tensor
    """[D]"""
    activation: str
    """One of "tanh" (RoBERTa), "relu" (DistilBERT), "gelu" (ELECTRA)."""


@dataclass(frozen=True, slots=True)
class TaskReader:
    """A task head apart from its encoder: it reads states that were computed already.

    `TaskNetwork` is for training; this one also reads the heads of BERT's relatives, and states of
    changed runs. In evaluation, so without dropout.
    """

    kind: str
    """One of READER_KINDS."""
    labels: tuple[str, ...]
    """C names; of "score" and "span" none."""
    weight: Tensor
    """[C, D]; of "score" [1, D], of "span" [2, D]."""
    bias: Tensor
    """[C]"""
    dense: Dense | None = None
    """None: "tags" and "span" read the states themselves, the others the network's pooler."""

    def logits(self, network: Encoder, hidden: Tensor) -> Tensor:
        """Return logits, [B, C] or, of "tags" and "span", [B, T, C].

        Args:
            network: That the states come from, for its pooler.
            hidden: Last hidden states, [B, T, D].

        Source: the classes For...Classification and ForQuestionAnswering of `transformers`.
        """
        if self.kind in ("tags", "span"):
            vectors = hidden
        elif self.dense is not None:
            first = F.linear(hidden[:, 0], self.dense.weight, self.dense.bias)
            vectors = _ACTIVATIONS[self.dense.activation](first)
        else:
            vectors = network.pooled(hidden)
        return F.linear(vectors, self.weight, self.bias)

    def log_probabilities(
        self, network: Encoder, hidden: Tensor, positions: Sequence[int] = ()
    ) -> Tensor:
        """Return what the head answers as distributions, float32 [B, N, M], log p.

        Args:
            network, hidden: As for `logits`.
            positions: The tokens to tag, N of them; only for "tags".

        Returns:
            "classes": N = 1, M = C. "labels": N = C, M = 2 (yes, no). "tags": M = C. "span": N = 2
            (start, end), M = T.

        Raises:
            ValueError: If the kind is "score", which has no probabilities.
        """
        logits = self.logits(network, hidden).float()
        if self.kind == "classes":
            scores = logits[:, None]
        elif self.kind == "labels":
            scores = torch.stack([logits, torch.zeros_like(logits)], -1)  # sigmoid(x), 1 - it
        elif self.kind == "tags":
            scores = logits[:, list(positions)]
        elif self.kind == "span":
            scores = logits.transpose(1, 2)  # [B, T, 2] -> [B, 2, T]
        else:
            raise ValueError("this head gives a number (a score), which has no probability.")
        return torch.log_softmax(scores, -1)

    def to(self, device: torch.device, dtype: torch.dtype) -> TaskReader:
        """Return the same head on a device and in a number format."""
        dense = self.dense
        if dense is not None:
            moved = (dense.weight.to(device, dtype), dense.bias.to(device, dtype))
            dense = Dense(*moved, dense.activation)
        weight, bias = self.weight.to(device, dtype), self.bias.to(device, dtype)
        return TaskReader(self.kind, self.labels, weight, bias, dense)
