"""The interface of a task's answer to one text: attribution target and counterfactual goal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from operator import neg
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.training.tasks.inputs import TaskInput


class TaskAnswer(ABC):
    """A model's answer to one text or pair of W words; each task has its own kind."""

    @abstractmethod
    def target(self, source: TaskInput, word: int = 1) -> Target:
        """Return the attribution target of the given answer, a tagger's at a word.

        ValueError if there is no answer to explain.
        """

    @abstractmethod
    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of a search for counterfactuals.

        For a tagger the word whose tag should change; for several labels at once the one whose yes
        or no should, None for the most probable one; for a regression the smallest change in the
        score that counts. ValueError if a tagger gets no word.
        """


@dataclass(frozen=True)
class Goal:
    """The goal of a search: which answers count as different, and which words may be swapped."""

    is_reached: Callable[[Any], bool]
    """Whether an answer of the same task differs from the first one."""
    target: Callable[[TaskInput], Target]
    """The target to lower, in a text with as many words as the first one."""
    fixed: frozenset[int] = frozenset()
    """Words that are not swapped, places in `TaskInput.words`."""
    progress: Callable[[float], float] = neg
    """Progress of a target's value towards the goal; higher is closer."""
    rank: Callable[[NDArray[np.float32]], NDArray[np.float32]] = np.positive
    """Order of trials from the words' importance [W]; the highest is tried first."""


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
