"""Classification: a label for a text ("classify"), or for two texts ("pair")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from bertcore.data.examples import TextExample
from bertcore.data.read_texts import TextForm
from bertcore.evaluation.assignment import assignment_notes
from bertcore.evaluation.metrics import Scores, class_metrics
from bertcore.tasks.answers import Goal, TaskAnswer
from bertcore.tasks.inputs import TaskInput
from bertcore.tasks.judged import (
    NO_SENTENCES,
    Judged,
    JudgedAnswers,
    Outputs,
    Part,
    Scored,
    ScoreOptions,
    WrongAnswer,
    breakdown_fields,
    logits_of_rows,
)
from bertcore.tasks.sequence import SequenceTask
from bertcore.tasks.targets import ClassTarget
from bertcore.tasks.task_data import TaskData, settled


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

    def goal(
        self, source: TaskInput, *, word: int | None, label: int | None, score_change: float
    ) -> Goal:
        """Return the goal of a different most probable label."""
        return OtherLabel(self)


class OtherLabel(Goal):
    """Another most probable label."""

    def __init__(self, first: LabelAnswer) -> None:
        self.first = first

    def is_reached(self, answer: LabelAnswer) -> bool:
        return answer.best != self.first.best

    def target(self, source: TaskInput) -> ClassTarget:
        return ClassTarget(self.first.best)


class Classify(SequenceTask):
    """A label for a text."""

    name = "classify"
    metrics = ("accuracy", "f1", "matthews", "macro_f1")
    decision = "class"
    form = TextForm(task="classify", headerless="CoLA")

    def reads_head(self, kind: str | None, problem: str) -> bool:
        """Return whether it is a head of several classes."""
        return kind == self.kind and problem in ("", "single_label_classification")

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the names of the labels."""
        return {
            "id2label": {str(i): label for i, label in enumerate(labels)},
            "label2id": {label: i for i, label in enumerate(labels)},
            "problem_type": "single_label_classification",
        }

    def check_metric(self, metric: str, labels: Sequence[str]) -> None:
        """Reject F1 unless there are two labels."""
        if metric == "f1" and len(labels) != 2:
            raise ValueError(
                f"the metric f1 is for two labels; there are {len(labels)}. Use macro_f1."
            )

    def score(self, outputs: Iterable[Outputs], data: TaskData, options: ScoreOptions) -> Scored:
        """Return accuracy, F1 and Matthews' correlation of the most probable labels."""
        return score_classes(outputs, data, data.labels, options)

    def wrong_answer(
        self, example: TextExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong label; the higher its confidence, the more severe."""
        gold, predicted = prediction["gold"], prediction["predicted"]
        if gold == predicted:
            return None
        return self.wrong(example, gold, predicted, float(prediction["confidence"]))

    def answer(
        self, source: TaskInput, logits: Tensor, labels: tuple[str, ...], *, num_spans: int = 5
    ) -> LabelAnswer:
        """Return the probability of each label."""
        return LabelAnswer(labels, torch.softmax(logits, -1).numpy())

    def judge(
        self, labels: Sequence[str], part: Part, logits: Sequence[NDArray[np.float32]]
    ) -> Judged:
        """Compare the most probable label with the true one."""
        answers = judge_classes(part, logits)
        gold, best = answers.gold.astype(np.int64), answers.predicted.astype(np.int64)
        errors = [
            self.wrong(example, labels[gold[i]], labels[best[i]], float(answers.confidence[i]))
            for i, example in enumerate(part.examples)
            if not answers.right[i]
        ]
        return Judged(answers, errors)


class Pair(Classify):
    """A label for two texts."""

    name = "pair"
    form = TextForm(task="pair", looks_for_pair=True, needs_pair=True)


def judge_classes(part: Part, logits: Sequence[NDArray[np.float32]]) -> JudgedAnswers:
    """Return the most probable class of each example, and whether it is right.

    Args:
        part: A part of a file.
        logits: Logits of each example, [C].
    """
    table = np.stack(logits)
    best = table.argmax(1).astype(np.int32)
    gold = part.data.rows.targets.astype(np.int64)
    gold = settled(gold, best, part.data.alike)
    right = gold == best
    return JudgedAnswers(
        gold=gold.astype(np.int32),
        predicted=best,
        confidence=softmax(table, axis=-1)[np.arange(len(best)), best],
        quality=right.astype(np.float32),
        right=right,
        lengths=part.data.rows.lengths.astype(np.int32),
        sentences=NO_SENTENCES,
    )


def score_classes(
    outputs: Iterable[Outputs],
    data: TaskData,
    labels: tuple[str, ...],
    options: ScoreOptions,
    *,
    only: Sequence[str] | None = None,
) -> Scored:
    """Return the scores of one class per row.

    Args:
        outputs, data, options: As for `Task.score`.
        labels: Names of the C classes; () numbers them.
        only: Metrics to keep; None keeps all.
    """
    num = len(data.rows)
    logits, loss = logits_of_rows(outputs, num)
    best = logits.argmax(1)
    gold = settled(data.rows.targets.astype(np.int64), best, data.alike)
    confidence = softmax(logits, axis=-1)[np.arange(num), best]
    names = labels or tuple(str(i) for i in range(logits.shape[1]))
    predictions = [
        {"gold": names[g], "predicted": names[p], "confidence": round(float(sure), 6)}
        for g, p, sure in zip(gold, best, confidence, strict=True)
    ]
    metrics, intervals, matrix = class_metrics(
        gold, best, len(names), with_intervals=options.in_full
    )
    if only is not None:
        metrics = {name: metrics[name] for name in only}
        intervals = {name: pair for name, pair in intervals.items() if name in only}
    broken_down = breakdown_fields(options, gold, best, confidence, data.rows.lengths, names)
    notes = broken_down.pop("notes", ())
    if options.in_full:
        notes += tuple(assignment_notes(gold, best, labels, len(data.rows.hashes)))
    scores = Scores(
        num_examples=num,
        loss=loss / num,
        metrics=metrics,
        intervals=intervals,
        confusion=matrix.tolist(),
        confusion_labels=names,
        notes=notes,
        **broken_down,
    )
    return Scored(scores, predictions)
