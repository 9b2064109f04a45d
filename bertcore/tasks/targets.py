"""Attribution targets: the log-odds of a label or a span, or a score.

Log-odds, ln(p / (1 - p)), are used instead of the bare logit of a softmax, because adding a number
to all logits leaves the answer unchanged, so one logit alone means nothing; and instead of p, which
hardly changes if a model is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Target(Protocol):
    """A number of the logits of a batch."""

    def value(self, logits: Tensor) -> Tensor:
        """Return the explained value, differentiable, [B], of logits [B, ...]."""
        ...

    def measure(self, logits: Tensor) -> Tensor:
        """Return the value shown to a reader, [B]: a probability, or the score itself."""
        ...


@dataclass(frozen=True, slots=True)
class ClassTarget:
    """A label of the whole text; logits [B, C]."""

    label: int

    def value(self, logits: Tensor) -> Tensor:
        """Return the label's log-odds, [B]."""
        return log_odds(logits, self.label)

    def measure(self, logits: Tensor) -> Tensor:
        """Return the label's probability, [B]."""
        return torch.softmax(logits.float(), -1)[:, self.label]


@dataclass(frozen=True, slots=True)
class LabelTarget:
    """One label of a text that may have several; logits [B, C]."""

    label: int
    is_given: bool = True
    """Whether "yes" is explained; else that the text has not the label."""

    def value(self, logits: Tensor) -> Tensor:
        """Return the log-odds, [B]: for a sigmoid, the logit itself."""
        logit = logits[:, self.label]
        return logit if self.is_given else -logit

    def measure(self, logits: Tensor) -> Tensor:
        """Return the probability, [B]."""
        return torch.sigmoid(self.value(logits.float()))


@dataclass(frozen=True, slots=True)
class TagTarget:
    """A label of one token; logits [B, T, C]."""

    position: int
    label: int

    def value(self, logits: Tensor) -> Tensor:
        """Return the label's log-odds, [B]."""
        return log_odds(logits[:, self.position], self.label)

    def measure(self, logits: Tensor) -> Tensor:
        """Return the label's probability, [B]."""
        return torch.softmax(logits[:, self.position].float(), -1)[:, self.label]


@dataclass(frozen=True, slots=True)
class SpanTarget:
    """An answer from its first to its last token; logits [B, T, 2]."""

    start: int
    end: int

    def value(self, logits: Tensor) -> Tensor:
        """Return the log-odds of the start plus those of the end, [B]."""
        return log_odds(logits[..., 0], self.start) + log_odds(logits[..., 1], self.end)

    def measure(self, logits: Tensor) -> Tensor:
        """Return p(start) p(end), [B]."""
        starts, ends = torch.softmax(logits.float(), 1).unbind(-1)
        return starts[:, self.start] * ends[:, self.end]


@dataclass(frozen=True, slots=True)
class ScoreTarget:
    """The number predicted by a regression; logits [B, 1]."""

    is_sigmoid: bool = False
    """Whether the score is the sigmoid of the output, whose log-odds are explained."""

    def value(self, logits: Tensor) -> Tensor:
        return logits[:, 0]

    def measure(self, logits: Tensor) -> Tensor:
        score = logits[:, 0].float()
        return score.sigmoid() if self.is_sigmoid else score


def log_odds(logits: Tensor, label: int) -> Tensor:
    """Return ln(p / (1 - p)) of one of C >= 2 classes, [B], of logits [B, C].

    >>> log_odds(torch.tensor([[1.0, 3.0]]), 1)
    tensor([2.])
    """
    others = torch.cat([logits[:, :label], logits[:, label + 1 :]], dim=1)
    return logits[:, label] - torch.logsumexp(others, dim=1)
