"""Apply the head of a fine-tuned checkpoint of any family to the last hidden states."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bertcore.model.network.protocol import Encoder
from bertcore.model.network.task_heads import TaskHead

READER_KINDS = ("classes", "labels", "score", "tags", "span")
"""One of several classes for a text; several labels at once, each yes or no; a number; a tag for
each token; start and end of an answer."""


@dataclass(frozen=True, slots=True, eq=False)
class TaskReader:
    """A task head without its encoder: it reads states that were already computed.

    `TaskNetwork` is for training; this one reads states of changed runs. For evaluation, so without
    dropout.
    """

    kind: str
    """One of READER_KINDS."""
    labels: tuple[str, ...]
    """C names; none for "score" and "span"."""
    head: TaskHead
    """On the encoder's device, in its number format."""

    def logits(self, network: Encoder, hidden: Tensor) -> Tensor:
        """Return logits, [B, C] or, for "tags" and "span", [B, T, C], of states [B, T, D].

        The network computed the states, and may have a pooler.

        Source: the classes For...Classification and ForQuestionAnswering of `transformers`.
        """
        logits: Tensor = self.head(self.head.vectors(network, hidden))
        return logits

    def log_probabilities(
        self, network: Encoder, hidden: Tensor, positions: Sequence[int] = ()
    ) -> Tensor:
        """Return the head's answers as distributions, float32 [B, N, M], log p.

        "classes": N = 1, M = C. "labels": N = C, M = 2 (yes, no). "tags": N tokens at `positions`,
        M = C. "span": N = 2 (start, end), M = T. ValueError if the kind is "score", which has no
        probabilities.
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
