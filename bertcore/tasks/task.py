"""A fine-tuning task: its data, head, loss, scores and answers, in one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.architecture.families import CLS
from bertcore.configs.columns import USUAL, Columns
from bertcore.configs.finetune import POOLING_OF_FEATURES
from bertcore.data.examples import Example
from bertcore.data.files import BadRows
from bertcore.distillation import soft_target_loss
from bertcore.evaluation.answer_notes import Inputs, class_notes
from bertcore.evaluation.breakdown import Slice, by_label
from bertcore.evaluation.metrics import Scores, class_metrics
from bertcore.tasks.answers import TaskAnswer
from bertcore.tasks.inputs import TaskInput
from bertcore.tasks.judged import (
    ExampleBlock,
    FileJudge,
    Judged,
    JudgedAnswers,
    MetricTable,
    Outputs,
    Scored,
    WrongAnswer,
    breakdown_fields,
    class_answers,
    logits_of_rows,
)
from bertcore.tasks.rows import IGNORED, Batch
from bertcore.tasks.task_data import TaskData
from bertcore.tokenizer import Tokenizer


class Task(ABC):
    """One kind of fine-tuning. Each has one instance, in `TASKS`.

    A new task is a file with a subclass, and its name in `TASKS`. The defaults are those of
    classification: labels as targets, cross-entropy.
    """

    name: ClassVar[str]
    """Its name for `bertscope finetune --task`."""
    kind: ClassVar[str]
    """Kind of head, of HEAD_KINDS."""
    metrics: ClassVar[tuple[str, ...]]
    """Metrics that can choose the best checkpoint; the first is the default. Higher is better."""
    has_labels: ClassVar[bool] = True
    """Whether the answers are a fixed list of labels."""
    weighs_classes: ClassVar[bool] = True
    """Whether the loss takes a weight for each label."""
    why_two: ClassVar[str] = "to learn a difference. Check the label column."
    """Why a single label is rejected, and what to do; follows "at least two are needed"."""
    default_length: ClassVar[int] = 128
    """Default for the longest input in tokens."""
    features: str | None = None
    """What a BiLSTM reads of an encoder that is not trained, of FEATURES; None: there is none."""
    pooling: str = CLS
    """What the head of a text reads, of POOLINGS."""
    answers_each_token: ClassVar[bool] = False
    """Whether logits are of tokens, [T, C], so that no token can be left out."""
    decision: ClassVar[str | None]
    """The kind of `bertcore.analysis.compare.decision` that reads this head from any layer."""
    reads_choices: ClassVar[bool] = False
    """Whether an input is a text with choices."""
    has_confidence: ClassVar[bool] = True
    """Whether an answer has a probability, so that it can be calibrated."""
    why_no_decision: ClassVar[str] = ""
    """What the head reads, if that is not a single hidden state."""
    hub_form: ClassVar[str] = "json lines"
    """How a hub data set is written to a file that `read` reads: "json lines" or "squad"."""

    # ---- the head ----

    def num_outputs(self, labels: Sequence[str]) -> int:
        """Return the number of outputs of a new head, C."""
        return len(labels)

    @property
    def head_kind(self) -> str:
        """The kind of head as which `transformers` opens the result, one of TASK_CLASSES."""
        return {"features": "token", "text-features": "sequence"}.get(self.kind, self.kind)

    def reads_head(self, kind: str | None, problem: str) -> bool:
        """Return whether a checkpoint's head is one of this task.

        Args:
            kind: Kind of the head, one of TASK_CLASSES; None: a class without a head.
            problem: The head's `problem_type` in Hugging Face's words, "" if config.json has none;
                "regression" also for a head with one output and no type.
        """
        return kind == self.head_kind

    def config_fields(self, labels: Sequence[str]) -> dict[str, Any]:
        """Return the head's fields of config.json, as in Hugging Face: the names of labels."""
        if not self.has_labels:
            return {}
        return {
            "id2label": {str(i): label for i, label in enumerate(labels)},
            "label2id": {label: i for i, label in enumerate(labels)},
        }

    def with_features(self, features: str) -> Task | None:
        """Return the same task on features of FEATURES; None if it has no such form."""
        return None

    def with_pooling(self, pooling: str) -> Self:
        """Return the same task on a text's vector of POOLINGS; ValueError if it has none."""
        if pooling == self.pooling:
            return self
        if self.features is not None:
            raise ValueError(POOLING_OF_FEATURES.format(pooling))
        if self.kind != "sequence":
            raise ValueError(
                f"pooling is {pooling!r}, but the task {self.name!r} does not read one vector of a "
                "text. It is for classify, pair, multilabel and regress."
            )
        form = copy(self)
        form.pooling = pooling
        return form

    # ---- data ----

    @abstractmethod
    def read(self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows) -> Iterator[Example]:
        """Yield the examples of a file.

        Args:
            bad_rows: Collects rows that cannot be used.

        ValueError if the file cannot be read or a column is not there.
        """

    @abstractmethod
    def rows(
        self,
        examples: Iterable[Any],
        tokenizer: Tokenizer,
        *,
        max_length: int,
        labels: Sequence[str] | None,
        doc_stride: int = 128,
        is_train: bool = True,
    ) -> TaskData:
        """Tokenize examples of `read` into rows.

        Args:
            examples: Examples with labels from the list, if there is one.
            tokenizer: The checkpoint's tokenizer.
            max_length: Longest row in tokens.
            labels: The classes; None collects them from the examples.
            doc_stride, is_train: As for `read_task_data`.
        """

    def check_metric(  # noqa: B027 - most tasks have nothing to refuse
        self, metric: str, labels: Sequence[str]
    ) -> None:
        """Reject a metric of `metrics` that does not fit these labels.

        ValueError if it does not.
        """

    def check_splits(  # noqa: B027 - as above
        self, train: TaskData, dev: TaskData
    ) -> None:
        """Reject training and dev data that do not fit each other; ValueError if they do not."""

    # ---- loss ----

    def loss(
        self,
        logits: Tensor,
        targets: Tensor,
        class_weights: Tensor | None = None,
        *,
        total: float | None = None,
    ) -> Tensor:
        """Return the loss of a batch in nats, or squared units of a regression; a float32 scalar.

        Args:
            logits: Logits of `TaskNetwork`.
            targets: Targets, as in `Batch`.
            class_weights: One for each class, float32; None weights all alike. With weights, the
                mean is weighted.
            total: For a part of a batch: `loss_weight` of the whole batch, so that the parts'
                losses sum to the batch's.

        Source: BertForSequenceClassification, -TokenClassification, -QuestionAnswering and
            -MultipleChoice of transformers. Differs: class weights, as in torch's cross_entropy.
        """
        reduction = "mean" if total is None else "sum"
        loss = self.reduced_loss(logits.float(), targets, class_weights, reduction)
        return loss if total is None else loss / total

    def reduced_loss(
        self, logits: Tensor, targets: Tensor, class_weights: Tensor | None, reduction: str
    ) -> Tensor:
        """Return the "mean" or "sum" of the loss over a batch, of float32 logits."""
        return F.cross_entropy(
            logits.flatten(0, -2),
            targets.flatten(),
            weight=class_weights,
            ignore_index=IGNORED,
            reduction=reduction,
        )

    def loss_weight(
        self, targets: NDArray[np.generic], class_weights: Tensor | None = None
    ) -> float:
        """Return the divisor of the summed loss of a batch: its examples, tokens or weights.

        Args:
            targets: Targets of the whole batch, from `Rows.targets_of`.
            class_weights: As for `loss`.
        """
        classes = targets[targets != IGNORED].astype(np.int64)
        if class_weights is None:
            return float(len(classes))
        return float(class_weights.cpu().numpy()[classes].sum())

    def num_targets(self, targets: Tensor) -> float:
        """Return the number of examples, or of tokens with a tag, in a batch's targets."""
        return float(len(targets))

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the loss against a teacher's logits, summed over the batch's targets.

        Args:
            logits, wanted: Logits of student and teacher.
            batch: The batch on which both were run.
            temperature: Temperature of both softmaxes.

        Source: Hinton et al. 2015.
        """
        return soft_target_loss(logits, wanted, temperature).sum()

    # ---- scores ----

    def answers_of(self, data: TaskData, logits: NDArray[np.float32]) -> JudgedAnswers:
        """Return the answers by the logits of all examples, [N, C]; of "tag" and "qa" not so."""
        return class_answers(data, logits)

    def predictions(
        self, answers: JudgedAnswers, logits: NDArray[np.float32], labels: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return a JSON object for each answer; classes without labels are numbers."""
        names = labels or tuple(map(str, range(logits.shape[1])))
        return [
            {"gold": names[gold], "predicted": names[best], "confidence": round(float(sure), 6)}
            for gold, best, sure in zip(
                answers.gold, answers.predicted, answers.confidence, strict=True
            )
        ]

    def score(self, outputs: Iterable[Outputs], data: TaskData, *, in_full: bool) -> Scored:
        """Return scores and predictions.

        Args:
            outputs: Outputs of all batches, each used once.
            data: The data that were run.
            in_full: Whether to add bootstrap intervals and a breakdown by confidence, length and
                label.
        """
        logits, loss = logits_of_rows(outputs, len(data.rows))
        answers = self.answers_of(data, logits)
        predictions = self.predictions(answers, logits, data.labels)
        return self.scored(answers, predictions, data, loss / len(data.rows), in_full=in_full)

    def scored(
        self,
        answers: JudgedAnswers,
        predictions: list[dict[str, Any]],
        data: TaskData,
        loss: float,
        *,
        in_full: bool,
    ) -> Scored:
        """Return the scores of answers; `loss` is the mean."""
        table = self.file_metrics(answers, data.labels, with_intervals=in_full)
        names = data.labels or tuple(map(str, range(data.rows.group)))
        broken_down: dict[str, Any] = {}
        if self.has_confidence and answers.gold.ndim == 1:
            broken_down = breakdown_fields(answers, names, in_full=in_full)
        notes = broken_down.pop("notes", ())
        if in_full and not notes:
            inputs = Inputs.of(data.rows.hashes)
            notes = tuple(self.file_notes(answers, data.labels, inputs))
        scores = Scores(
            num_examples=data.num_examples,
            loss=loss,
            metrics=table.metrics,
            intervals=table.intervals,
            confusion=[] if table.confusion is None else table.confusion.tolist(),
            confusion_labels=() if table.confusion is None else names,
            by_type=table.by_type,
            notes=notes,
            **broken_down,
        )
        return Scored(scores, predictions)

    @abstractmethod
    def wrong_answer(
        self, example: Any, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong prediction with its text; None if it is right.

        Args:
            example: An example from `read`.
            prediction: Its prediction from `score`.
            number: Number of the example, from 1.
        """

    # ---- answers, to be explained ----

    def check_input(  # noqa: B027 - most tasks read a text or a pair
        self, source: TaskInput
    ) -> None:
        """Reject an input that lacks what the task reads; ValueError if it does."""

    @abstractmethod
    def answer(
        self, source: TaskInput, logits: Tensor, labels: tuple[str, ...], *, num_spans: int = 5
    ) -> TaskAnswer:
        """Return the answer to one input.

        Args:
            logits: [C], [N] for choices, or [T, C]; float32.
            labels: Names of the classes.
            num_spans: For "qa": maximum number of answers to return.
        """

    def file_judge(self, path: Path, labels: Sequence[str]) -> FileJudge:
        """Return the judge of the parts of a labelled file.

        Args:
            path: The file, which may be scanned first.
            labels: Names of the classes.
        """
        return partial(self.judge, labels)

    def judge(
        self, labels: Sequence[str], part: ExampleBlock, logits: Sequence[NDArray[np.float32]]
    ) -> Judged:
        """Return the answers to a part of a labelled file; see `FileJudge`."""
        table = np.stack(logits)
        answers = self.answers_of(part.data, table)
        predictions = self.predictions(answers, table, part.data.labels)
        pairs = enumerate(zip(part.examples, predictions, strict=True), start=part.first + 1)
        wrong = (self.wrong_answer(example, said, number) for number, (example, said) in pairs)
        return Judged(answers, [one for one in wrong if one is not None])

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        gold, predicted = answers.gold.astype(np.int64), answers.predicted.astype(np.int64)
        return MetricTable(
            *class_metrics(gold, predicted, len(labels), with_intervals=with_intervals)
        )

    def file_notes(
        self, answers: JudgedAnswers, labels: Sequence[str], inputs: Inputs
    ) -> list[str]:
        """Return what is to be said of the answers to a labelled file, a sentence each.

        Args:
            answers, labels: As for `file_metrics`.
            inputs: What was scored.
        """
        if not self.has_labels:
            return inputs.notes()
        return class_notes(answers.gold, answers.predicted, labels, inputs)

    def slice_names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the groups numbered in `JudgedAnswers.gold`; () for scores."""
        return labels

    def slices_by_label(self, answers: JudgedAnswers, labels: tuple[str, ...]) -> list[Slice]:
        """Return the mean quality of each group that occurs."""
        names = self.slice_names(labels)
        return by_label(answers.quality, answers.gold.astype(np.int64), names) if names else []
