"""The interface of a task's answer to one text: attribution target and counterfactual goal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.tasks.inputs import TaskInput
from bertcore.tasks.targets import Target


class TaskAnswer(ABC):
    """A model's answer to one text or pair of W words; each task has its own kind."""

    @abstractmethod
    def target(self, source: TaskInput, word: int = 1) -> Target:
        """Return the attribution target of the given answer.

        Args:
            source: The input that was answered.
            word: For a tagger: the word whose tag is explained, an index into `source.words`.

        ValueError if there is no answer to explain.
        """

    @abstractmethod
    def goal(
        self, source: TaskInput, *, word: int | None, label: int | None, score_change: float
    ) -> Goal:
        """Return the goal of a search for counterfactuals.

        Args:
            source: The input that was answered.
            word: For a tagger: the word whose tag should change.
            label: For several labels at once: the one whose yes or no should change; None takes the
                most probable one.
            score_change: For a regression: the smallest change in the score that counts.

        ValueError if a tagger gets no word.
        """


class Goal(ABC):
    """The goal of a search: which answers count as different, and which words may be swapped."""

    fixed: frozenset[int] = frozenset()
    """Words that are not swapped, places in `TaskInput.words`."""

    @abstractmethod
    def is_reached(self, answer: Any) -> bool:
        """Return whether an answer of the same task differs from the first one."""

    @abstractmethod
    def target(self, source: TaskInput) -> Target:
        """Return the target to lower, in a text with as many words as the first one."""

    def progress(self, value: float) -> float:
        """Return the progress of a target's value towards the goal; higher is closer."""
        return -value

    def rank(self, importance: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the order of trials from the words' importance [W]; the highest is tried first."""
        return importance
