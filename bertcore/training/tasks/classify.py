"""Classification: a label for a text ("classify"), or for two texts ("pair")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.data.columns import TextForm
from bertcore.data.examples import TextExample
from bertcore.training.tasks.answers import ClassTarget, Goal, TaskAnswer
from bertcore.training.tasks.inputs import TaskInput
from bertcore.training.tasks.judged import WrongAnswer
from bertcore.training.tasks.task import SequenceTask


@dataclass(frozen=True, slots=True)
class LabelAnswer(TaskAnswer):
    """A distribution over the labels of a text."""

    labels: tuple[str, ...]
    """C names."""
    probabilities: NDArray[np.float32]
    """[C]"""

    @property
    def best(self) -> int:
        """The most probable label."""
        return int(self.probabilities.argmax())

    def target(self, source: TaskInput, word: int = 1) -> ClassTarget:
        """Return the most probable label as target."""
        return ClassTarget(self.best)

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of a different most probable label."""
        return Goal(lambda answer: answer.best != self.best, self.target)


class Classify(SequenceTask):
    """A label for a text."""

    name = "classify"
    metrics = ("accuracy", "f1", "matthews", "macro_f1")
    decision: ClassVar[str | None] = "class"
    form = TextForm(task="classify", headerless="CoLA")

    def reads_head(self, kind: str | None, problem: str) -> bool:
        """Return whether it is a head of several classes."""
        return kind == self.head_kind and problem in ("", "single_label_classification")

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        return {**super().config_fields(labels), "problem_type": "single_label_classification"}

    def with_features(self, features: str) -> Classify | None:
        return _on_features(features)

    def check_metric(self, metric: str, labels: Sequence[str]) -> None:
        """Reject F1 unless there are two labels."""
        if metric == "f1" and len(labels) != 2:
            raise ValueError(
                f"the metric f1 is for two labels; there are {len(labels)}. Use macro_f1."
            )

    def wrong_answer(
        self, example: TextExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong label; the higher its confidence, the more severe."""
        gold, predicted = prediction["gold"], prediction["predicted"]
        if gold == predicted:
            return None
        return self.wrong(example, gold, predicted, float(prediction["confidence"]))

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> LabelAnswer:
        return LabelAnswer(labels, torch.softmax(logits, -1).numpy())


class FeatureClassify(Classify):
    """A label by a BiLSTM over frozen layers: `transformers` opens only the encoder."""

    kind = "text-features"
    decision = None
    why_no_decision = "the states of frozen layers, by a BiLSTM"

    def __init__(self, features: str) -> None:
        self.features = features


_on_features = cache(FeatureClassify)


class Pair(Classify):
    """A label for two texts."""

    name = "pair"
    form = TextForm(task="pair", looks_for_pair=True, needs_pair=True)

    def with_features(self, features: str) -> None:
        return None
