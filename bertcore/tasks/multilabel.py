"""Any number of labels for a text, each yes or no."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from bertcore.data.cells import SEPARATOR
from bertcore.data.columns import TextForm
from bertcore.data.examples import LabelsExample
from bertcore.data.labels import order_labels
from bertcore.evaluation.breakdown import Slice, by_member
from bertcore.evaluation.metrics import label_set_metrics
from bertcore.tasks.answers import Goal, LabelTarget, TaskAnswer
from bertcore.tasks.inputs import TaskInput
from bertcore.tasks.judged import (
    NO_SENTENCES,
    JudgedAnswers,
    MetricTable,
    WrongAnswer,
)
from bertcore.tasks.rows import Batch
from bertcore.tasks.sequence import SequenceTask
from bertcore.tasks.task_data import TaskData, check_all_said

Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LabelsAnswer(TaskAnswer):
    """The probability of each label of a text; they need not sum to 1."""

    labels: tuple[str, ...]
    """C names."""
    probabilities: NDArray[np.float32]
    """[C]"""

    @property
    def given(self) -> list[int]:
        """The labels that are more probable than not, the most probable first."""
        order = np.argsort(-self.probabilities, kind="stable")
        return [int(i) for i in order if self.probabilities[i] > 0.5]

    @property
    def best(self) -> int:
        """The most probable label, given or not."""
        return int(self.probabilities.argmax())

    def target(self, source: TaskInput, word: int = 1) -> LabelTarget:
        """Return the most probable label as target."""
        return LabelTarget(self.best)

    def goal(
        self, source: TaskInput, *, word: int | None, label: int | None, score_change: float
    ) -> Goal:
        """Return the goal of the opposite answer, yes or no, for a label."""
        chosen = self.best if label is None else label
        return _OtherAnswer(chosen, is_given=chosen in self.given)


class _OtherAnswer(Goal):
    def __init__(self, label: int, *, is_given: bool) -> None:
        self.label, self.is_given = label, is_given

    def is_reached(self, answer: LabelsAnswer) -> bool:
        return (self.label in answer.given) != self.is_given

    def target(self, source: TaskInput) -> LabelTarget:
        return LabelTarget(self.label, self.is_given)


class _Answers(NamedTuple):
    """The answers from the logits of N texts."""

    probabilities: NDArray[np.float64]
    """[N, C]"""
    given: Truths
    """[N, C]"""
    confidence: NDArray[np.float64]
    """Of all labels of a text together, [N]."""


class Multilabel(SequenceTask):
    """Any number of labels for a text."""

    name = "multilabel"
    metrics = ("micro_f1", "macro_f1", "accuracy")
    weighs_classes = False
    why_two = "for several labels per text. For a single yes or no use --task classify."
    decision = "labels"
    form = TextForm(task="multilabel", answer="labels")

    def reads_head(self, kind: str | None, problem: str) -> bool:
        """Return whether a text may have several of the head's labels, as far as is known."""
        return kind == self.kind and problem in ("", "multi_label_classification")

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the names of the labels, and that each is predicted separately."""
        return {**super().config_fields(labels), "problem_type": "multi_label_classification"}

    def checked(self, data: TaskData, answers: Sequence[Any]) -> TaskData:
        """Refuse a file that names some of the labels only."""
        asked = list(dict.fromkeys(name for _, named in answers for name in named))
        check_all_said(data.labels, asked, says_no=bool(asked))
        return replace(data, says_no=bool(asked))

    def answer_of(self, example: LabelsExample) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels that a text has, and those that the file names."""
        return example.labels, example.asked

    def targets(
        self, answers: Iterable[Any], labels: Sequence[str] | None
    ) -> tuple[tuple[str, ...], Truths]:
        """Return the labels, and whether each text has each, [N, C]."""
        sets = list(answers)
        if labels is None:
            labels = order_labels(name for one in sets for name in (*one[0], *one[1]))
        places = {label: place for place, label in enumerate(labels)}
        targets = np.zeros((len(sets), len(labels)), dtype=np.bool_)
        for row, (given, _) in enumerate(sets):
            targets[row, [places[label] for label in given]] = True
        return tuple(labels), targets

    def reduced_loss(
        self, logits: Tensor, targets: Tensor, class_weights: Tensor | None, reduction: str
    ) -> Tensor:
        """Return the binary cross-entropy in nats, the mean over texts and labels."""
        return F.binary_cross_entropy_with_logits(logits, targets, reduction=reduction)

    def loss_weight(
        self, targets: NDArray[np.generic], class_weights: Tensor | None = None
    ) -> float:
        """Return the number of answers, yes or no."""
        return float(targets.size)

    def num_targets(self, targets: Tensor) -> float:
        return float(targets.numel())

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return temperature^2 x the binary cross-entropy with the teacher's sigmoids, summed."""
        soft = (wanted.float() / temperature).sigmoid()
        ours = logits.float() / temperature
        return F.binary_cross_entropy_with_logits(ours, soft, reduction="sum") * temperature**2

    def answers_of(self, data: TaskData, logits: NDArray[np.float32]) -> JudgedAnswers:
        """Return which labels were given; a text is right if all its labels are."""
        found, gold = _answers(logits), data.rows.targets.astype(np.bool_)
        return JudgedAnswers(
            gold=gold,
            predicted=found.given,
            confidence=found.confidence.astype(np.float32),
            quality=_f1_of_texts(gold, found.given),
            right=(gold == found.given).all(1),
            lengths=data.rows.lengths.astype(np.int32),
            sentences=NO_SENTENCES,
        )

    def predictions(
        self, answers: JudgedAnswers, logits: NDArray[np.float32], labels: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return the labels of each text, and the probability of each label."""
        probabilities = _answers(logits).probabilities.round(6).tolist()
        return [
            {
                "gold": _names(labels, answers.gold[row]),
                "predicted": _names(labels, answers.predicted[row]),
                "confidence": round(float(answers.confidence[row]), 6),
                "probabilities": dict(zip(labels, probabilities[row], strict=True)),
            }
            for row in range(len(answers.gold))
        ]

    def wrong_answer(
        self, example: LabelsExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong set of labels; the higher their confidence, the more severe."""
        gold, predicted = prediction["gold"], prediction["predicted"]
        if gold == predicted:
            return None
        said, severity = joined_names(predicted), float(prediction["confidence"])
        return self.wrong(example, joined_names(gold), said, severity)

    def answer(
        self, source: TaskInput, logits: Tensor, labels: tuple[str, ...], *, num_spans: int = 5
    ) -> LabelsAnswer:
        return LabelsAnswer(labels, logits.sigmoid().numpy())

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        """Return micro and macro F1, exact match, and the scores of each label."""
        gold, predicted = (x.astype(np.bool_) for x in (answers.gold, answers.predicted))
        metrics, intervals, by_label = label_set_metrics(
            gold, predicted, labels, with_intervals=with_intervals
        )
        return MetricTable(metrics, intervals, None, by_label)

    def slices_by_label(self, answers: JudgedAnswers, labels: tuple[str, ...]) -> list[Slice]:
        """Return the mean F1 of the texts that have each label."""
        return by_member(answers.quality, answers.gold.astype(np.bool_), labels)


def joined_names(names: Sequence[str]) -> str:
    """Return labels as written in a cell, and "none" for no label."""
    return f" {SEPARATOR} ".join(names) or "none"


def _answers(logits: NDArray[np.float32]) -> _Answers:
    """Return the answers from logits [N, C]; labels of a text are independent given the logits."""
    probabilities = expit(logits.astype(np.float64))
    given = probabilities > 0.5
    return _Answers(probabilities, given, np.where(given, probabilities, 1 - probabilities).prod(1))


def _names(labels: Sequence[str], truths: Truths) -> list[str]:
    return [labels[place] for place in np.flatnonzero(truths).tolist()]


def _f1_of_texts(gold: Truths, predicted: Truths) -> NDArray[np.float32]:
    """Return the F1 of each text's labels, [N]; 1 if it has none and none is given."""
    both, total = (gold & predicted).sum(1), gold.sum(1) + predicted.sum(1)
    f1: NDArray[np.float32] = np.where(total, 2 * both / np.maximum(total, 1), 1).astype(np.float32)
    return f1
