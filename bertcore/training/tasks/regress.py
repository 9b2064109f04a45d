"""Regression: a score for a text or pair."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch.nn.functional as F
from scipy.special import expit
from torch import Tensor

from bertcore.data.columns import TextForm
from bertcore.data.examples import TextExample
from bertcore.training.evaluation.answer_notes import Inputs, score_notes
from bertcore.training.evaluation.metrics import score_metrics
from bertcore.training.tasks.answers import Goal, ScoreTarget, TaskAnswer
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


@dataclass(frozen=True, slots=True)
class ScoreAnswer(TaskAnswer):
    """The score of a text or pair."""

    score: float
    output: float | None = None
    """Output of the head, of which the score is the sigmoid; None if it is the score."""

    def target(self, source: TaskInput, word: int = 1) -> ScoreTarget:
        return ScoreTarget(is_sigmoid=self.output is not None)

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of a score at least `change` away, up or down."""
        first = self.score if self.output is None else self.output
        return Goal(
            lambda answer: abs(answer.score - self.score) >= change,
            self.target,
            progress=lambda value: abs(value - first),
            rank=np.abs,
        )


class Regress(SequenceTask):
    """A score for a text or pair."""

    name = "regress"
    metrics = ("pearson_spearman", "pearson", "spearman")
    has_labels = False
    has_confidence = False
    decision = "score"
    form = TextForm(task="regress", headerless="STS-B", answer="score", looks_for_pair=True)
    is_sigmoid: ClassVar[bool] = False
    """Whether the score is the sigmoid of the head's output."""

    def num_outputs(self, labels: Sequence[str]) -> int:
        return 1

    def reads_head(self, kind: str | None, problem: str) -> bool:
        return kind == self.kind and problem == "regression"

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return that the head predicts a score."""
        return {"problem_type": "regression", "id2label": {"0": "score"}, "label2id": {"score": 0}}

    def targets(
        self, answers: Iterable[str], labels: Sequence[str] | None
    ) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
        """Return no labels, and the scores, [N]."""
        return (), np.array([float(answer) for answer in answers], dtype=np.float32)

    def reduced_loss(
        self, logits: Tensor, targets: Tensor, class_weights: Tensor | None, reduction: str
    ) -> Tensor:
        """Return the mean squared error."""
        return F.mse_loss(logits.squeeze(-1), targets, reduction=reduction)

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the summed squared difference from the teacher's scores."""
        return F.mse_loss(logits.float(), wanted.float(), reduction="sum")

    def judged(self, data: TaskData, logits: Logits, convention: Any) -> Predicted:
        """Return the scores, and their distances from the true ones."""
        outputs, gold = np.stack(logits)[:, 0], data.rows.targets.astype(np.float32)
        predicted = expit(outputs) if self.is_sigmoid else outputs
        answers = JudgedAnswers(
            gold=gold,
            predicted=predicted,
            confidence=np.full(len(gold), np.nan, dtype=np.float32),
            quality=np.abs(gold - predicted),
            right=np.zeros(len(gold), dtype=np.bool_),
            lengths=data.rows.lengths.astype(np.int32),
        )
        pairs = zip(gold.tolist(), predicted.tolist(), strict=True)
        return answers, [{"gold": round(a, 6), "predicted": round(b, 6)} for a, b in pairs]

    def wrong_answer(
        self, example: TextExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer:
        """Return every score; the farther from the true one, the more severe."""
        gold, predicted = float(prediction["gold"]), float(prediction["predicted"])
        return self.wrong(example, f"{gold:g}", f"{predicted:.3f}", abs(gold - predicted))

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> ScoreAnswer:
        output = float(logits[0])
        return ScoreAnswer(float(expit(output)), output) if self.is_sigmoid else ScoreAnswer(output)

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        """Return the correlations of predicted and true scores."""
        gold, predicted = (x.astype(np.float32) for x in (answers.gold, answers.predicted))
        return MetricTable(*score_metrics(gold, predicted, with_intervals=with_intervals))

    def file_notes(
        self, answers: JudgedAnswers, labels: Sequence[str], inputs: Inputs
    ) -> list[str]:
        gold, predicted = (x.astype(np.float32) for x in (answers.gold, answers.predicted))
        return score_notes(gold, predicted, inputs)

    def slice_names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return (): true scores are not groups."""
        return ()


class Probability(Regress):
    """A score that is the sigmoid of the output, as a cross-encoder stores it."""

    is_sigmoid = True

    def reduced_loss(
        self, logits: Tensor, targets: Tensor, class_weights: Tensor | None, reduction: str
    ) -> Tensor:
        """Return the mean squared error of the sigmoids."""
        return super().reduced_loss(logits.sigmoid(), targets, class_weights, reduction)

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return that the head predicts a score, and how it is read."""
        activation = {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
        return {**super().config_fields(labels), "sentence_transformers": activation}


SIGMOID = Probability()
