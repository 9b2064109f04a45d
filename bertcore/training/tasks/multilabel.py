"""Any number of labels for a text, each yes or no."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from bertcore.data.cells import SEPARATOR
from bertcore.data.columns import TextForm
from bertcore.data.examples import LabelsExample
from bertcore.data.labels import order_labels, some_labels
from bertcore.training.evaluation.metrics import label_set_metrics
from bertcore.training.tasks.answers import Goal, LabelTarget, TaskAnswer
from bertcore.training.tasks.inputs import TaskInput
from bertcore.training.tasks.judged import (
    JudgedAnswers,
    Logits,
    MetricTable,
    Predicted,
    WrongAnswer,
)
from bertcore.training.tasks.rows import Batch
from bertcore.training.tasks.task import SequenceTask
from bertcore.training.tasks.task_data import TaskData

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

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of the opposite answer, yes or no, for a label."""
        chosen = self.best if label is None else label
        is_given = chosen in self.given
        return Goal(
            lambda answer: (chosen in answer.given) != is_given,
            lambda source: LabelTarget(chosen, is_given),
        )


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
        """Refuse a file that names some of the labels only: nothing says who has the others."""
        asked = list(dict.fromkeys(name for _, named in answers for name in named))
        missing = [label for label in data.labels if label not in asked]
        if asked and missing:
            raise ValueError(
                f"the data does not state which texts have the labels {some_labels(missing)}; it "
                f"has {some_labels(asked)}. Name the columns of all {len(data.labels)} labels with "
                "--label; a checkpoint learns other labels with --new-head."
            )
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

    def num_targets(self, targets: Tensor | NDArray[np.generic]) -> float:
        """Return the number of answers, yes or no."""
        return float(len(targets) * targets.shape[1])

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return temperature^2 x the binary cross-entropy with the teacher's sigmoids, summed."""
        soft = (wanted.float() / temperature).sigmoid()
        ours = logits.float() / temperature
        return F.binary_cross_entropy_with_logits(ours, soft, reduction="sum") * temperature**2

    def judged(self, data: TaskData, logits: Logits, convention: Any) -> Predicted:
        """Return which labels were given; a text is right if all its labels are.

        Labels of a text are independent given the logits.
        """
        gold = data.rows.targets.astype(np.bool_)
        probabilities = expit(np.stack(logits).astype(np.float64))
        given = probabilities > 0.5
        both, total = (gold & given).sum(1), gold.sum(1) + given.sum(1)
        answers = JudgedAnswers(
            gold=gold,
            predicted=given,
            confidence=np.where(given, probabilities, 1 - probabilities).prod(1).astype(np.float32),
            # Of a text that has none and is given none the F1 is 1.
            quality=np.where(total, 2 * both / np.maximum(total, 1), 1).astype(np.float32),
            right=(gold == given).all(1),
            lengths=data.rows.lengths.astype(np.int32),
        )
        predictions = [
            {
                "gold": _names(data.labels, gold[row]),
                "predicted": _names(data.labels, given[row]),
                "confidence": round(float(answers.confidence[row]), 6),
                "probabilities": dict(zip(data.labels, values, strict=True)),
            }
            for row, values in enumerate(probabilities.round(6).tolist())
        ]
        return answers, predictions

    def wrong_answer(
        self, example: LabelsExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong set of labels; the higher their confidence, the more severe."""
        gold, predicted = prediction["gold"], prediction["predicted"]
        if gold == predicted:
            return None
        said, severity = joined_names(predicted), float(prediction["confidence"])
        return self.wrong(example, joined_names(gold), said, severity)

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> LabelsAnswer:
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


def joined_names(names: Sequence[str]) -> str:
    """Return labels as written in a cell, and "none" for no label."""
    return f" {SEPARATOR} ".join(names) or "none"


def _names(labels: Sequence[str], truths: Truths) -> list[str]:
    return [labels[place] for place in np.flatnonzero(truths).tolist()]
