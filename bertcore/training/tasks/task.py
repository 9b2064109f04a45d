"""A fine-tuning task: its data, head, loss, scores and answers, in one class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from scipy.special import softmax
from torch import Tensor

from bertcore.configs.columns import USUAL, Columns
from bertcore.configs.finetune import POOLING_OF_FEATURES
from bertcore.data.columns import TextForm
from bertcore.data.examples import Example, LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.data.read_rows import read_texts
from bertcore.model.architecture.families import CLS
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.distillation import soft_target_loss
from bertcore.training.evaluation.answer_notes import Inputs, class_notes
from bertcore.training.evaluation.breakdown import Slice, break_down, by_label
from bertcore.training.evaluation.metrics import Scores, class_metrics
from bertcore.training.tasks.answers import TaskAnswer
from bertcore.training.tasks.inputs import TaskInput
from bertcore.training.tasks.judged import (
    ExampleBlock,
    FileJudge,
    Judged,
    JudgedAnswers,
    Logits,
    MetricTable,
    Outputs,
    Predicted,
    Scored,
    WrongAnswer,
    logits_of_rows,
)
from bertcore.training.tasks.rows import IGNORED, Batch, RowBuilder
from bertcore.training.tasks.task_data import LabelNumbers, TaskData


class RowForm(NamedTuple):
    """How examples become rows."""

    max_length: int
    """Longest row in tokens."""
    labels: Sequence[str] | None = None
    """The classes; None collects them from the examples."""
    doc_stride: int = 128
    """Of "qa": tokens from one window's start to the next's."""
    is_train: bool = True
    """Whether texts are not needed afterwards, as those of "qa" are for scores."""


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
        """Return whether a checkpoint's head, of one of TASK_CLASSES or None, is one of this task.

        `problem` is its `problem_type` in Hugging Face's words, "" if config.json has none;
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

        ValueError if the file cannot be read or a column is not there.
        """

    @abstractmethod
    def rows(self, examples: Iterable[Any], tokenizer: Tokenizer, form: RowForm) -> TaskData:
        """Tokenize examples of `read`, with labels from the list if there is one, into rows."""

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
        """Return the divisor of the summed loss of a whole batch: its targets, or their weights."""
        if class_weights is None:
            return self.num_targets(targets)
        classes = targets[targets != IGNORED].astype(np.int64)
        return float(class_weights.cpu().numpy()[classes].sum())

    def num_targets(self, targets: Tensor | NDArray[np.generic]) -> float:
        """Return the number of examples, or of tokens with a tag, in a batch's targets."""
        return float(len(targets))

    def soft_loss(self, logits: Tensor, wanted: Tensor, batch: Batch, temperature: float) -> Tensor:
        """Return the loss against a teacher's logits, summed over the batch's targets.

        `temperature` is that of both softmaxes. Source: Hinton et al. 2015.
        """
        return soft_target_loss(logits, wanted, temperature).sum()

    # ---- scores ----

    def convention(self, data: TaskData, logits: Logits) -> Any:
        """Return how all answers are read, decided by the first of them; None: in the one way."""
        return None

    def file_convention(self, path: Path) -> Any:
        """Return the convention if the whole file decides on it; None if its first part does."""
        return None

    def judged(self, data: TaskData, logits: Logits, convention: Any) -> Predicted:
        """Return the answers by the logits of each row, [C] or [T, C], and a JSON object each.

        Those of a classifier are the most probable classes; without labels, classes are numbers.
        """
        table = np.stack(logits)
        best, gold = table.argmax(1).astype(np.int32), data.rows.targets.astype(np.int32)
        answers = JudgedAnswers(
            gold=gold,
            predicted=best,
            confidence=softmax(table, axis=-1)[np.arange(len(best)), best],
            quality=(gold == best).astype(np.float32),
            right=gold == best,
            lengths=data.rows.lengths.astype(np.int32),
        )
        names = data.labels or tuple(map(str, range(table.shape[1])))
        predictions = [
            {"gold": names[true], "predicted": names[given], "confidence": round(float(sure), 6)}
            for true, given, sure in zip(gold, best, answers.confidence, strict=True)
        ]
        return answers, predictions

    def score(self, outputs: Iterable[Outputs], data: TaskData, *, in_full: bool) -> Scored:
        """Return scores and predictions of the outputs of all batches, each used once.

        `in_full` adds bootstrap intervals and a breakdown by confidence, length and label.
        """
        logits, loss = logits_of_rows(outputs, data.rows)
        answers, predictions = self.judged(data, logits, self.convention(data, logits))
        table = self.file_metrics(answers, data.labels, with_intervals=in_full)
        names = data.labels or tuple(map(str, range(data.rows.group)))
        breakdown, notes = None, []
        if in_full:
            notes = self.file_notes(answers, data.labels, Inputs.of(data.rows.hashes))
            if self.has_confidence and answers.gold.ndim == 1 and data.questions is None:
                gold, sure = answers.gold.astype(np.int64), answers.confidence
                breakdown = break_down(answers.right, gold, sure, answers.lengths, names)
                if breakdown is None:
                    wrong = ~np.isfinite(sure)
                    num = f"{int(wrong.sum()):,} of {len(wrong):,}"
                    notes = [f"{num} answers are NaN, so there is no calibration."]
        scores = Scores(
            num_examples=data.num_examples,
            loss=loss,
            metrics=table.metrics,
            intervals=table.intervals,
            confusion=[] if table.confusion is None else table.confusion.tolist(),
            confusion_labels=() if table.confusion is None else names,
            by_type=table.by_type,
            breakdown=breakdown,
            notes=tuple(notes),
        )
        return Scored(scores, predictions)

    @abstractmethod
    def wrong_answer(
        self, example: Any, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong prediction with its text and its number, from 1; None if it is right."""

    # ---- answers, to be explained ----

    def check_input(  # noqa: B027 - most tasks read a text or a pair
        self, source: TaskInput
    ) -> None:
        """Reject an input that lacks what the task reads; ValueError if it does."""

    @abstractmethod
    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> TaskAnswer:
        """Return the answer to one input, of logits [C], [N] for choices, or [T, C]; float32."""

    def file_judge(self, path: Path) -> FileJudge:
        """Return the judge of the parts of a labelled file, which may be scanned first."""
        convention = self.file_convention(path)

        def judge(part: ExampleBlock, logits: Logits) -> Judged:
            nonlocal convention
            if convention is None:
                convention = self.convention(part.data, logits)
            answers, predictions = self.judged(part.data, logits, convention)
            pairs = enumerate(zip(part.examples, predictions, strict=True), start=part.first + 1)
            wrong = (self.wrong_answer(example, said, number) for number, (example, said) in pairs)
            return Judged(answers, [answer for answer in wrong if answer is not None])

        return judge

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
        """Return what is to be said of the answers to a labelled file, a sentence each."""
        if not self.has_labels:
            return inputs.notes()
        return class_notes(answers.gold, answers.predicted, labels, inputs)

    def slice_names(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the groups numbered in `JudgedAnswers.gold`; () for scores."""
        return labels

    def slices_by_label(self, answers: JudgedAnswers, labels: tuple[str, ...]) -> list[Slice]:
        """Return the mean quality of each group that occurs."""
        names = self.slice_names(labels)
        gold: Any = answers.gold if answers.gold.ndim == 2 else answers.gold.astype(np.int64)
        return by_label(answers.quality, gold, names) if names else []


_AT_ONCE = 2000


class SequenceTask(Task):
    """A label, several labels or a score per text or pair, read from [CLS] or the tokens' mean."""

    kind = "sequence"
    form: ClassVar[TextForm]
    """What is read from each row of a table."""

    def read(self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows) -> Iterator[Example]:
        """Yield the rows of a table; see `read_texts`."""
        return read_texts(path, form=self.form, columns=columns, bad_rows=bad_rows)

    def rows(self, examples: Iterable[Any], tokenizer: Tokenizer, form: RowForm) -> TaskData:
        """Tokenize each text or pair into one row."""
        builder, max_length = RowBuilder(tokenizer, form.max_length), form.max_length
        answers: list[Any] = []
        for chunk in _chunks(examples):
            answers += map(self.answer_of, chunk)
            # Of two long texts, their whole lengths decide which tokens are read.
            num_read = max_length if not any(example.text_pair for example in chunk) else None
            first = tokenizer.encode_ids([e.text for e in chunk], num_read=num_read)
            second = tokenizer.encode_ids([example.text_pair or "" for example in chunk])
            for example, a, b in zip(chunk, first, second, strict=True):
                builder.add(a, None if example.text_pair is None else b)
        names, targets = self.targets(answers, form.labels)
        rows = builder.build(targets)
        return self.checked(TaskData(rows=rows, labels=names, num_examples=len(rows)), answers)

    def checked(self, data: TaskData, answers: Sequence[Any]) -> TaskData:
        """Return the data, or raise ValueError if the answers do not fit the labels."""
        return data

    def answer_of(self, example: Any) -> Any:
        """Return what `targets` needs from an example."""
        return example.answer

    def targets(
        self, answers: Iterable[Any], labels: Sequence[str] | None
    ) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
        """Return the labels, and a target for each answer, [N], or [N, C] for several labels."""
        classes = LabelNumbers(labels)
        return classes.finish(array("i", map(classes.number, answers)))

    @staticmethod
    def wrong(example: Example, gold: str, predicted: str, severity: float) -> WrongAnswer:
        assert isinstance(example, TextExample | LabelsExample)
        return WrongAnswer(example.row, example.text, example.text_pair, gold, predicted, severity)


def _chunks(examples: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield examples by the thousand, so that the tokenizer works on many and none is kept."""
    source = iter(examples)
    while chunk := list(islice(source, _AT_ONCE)):
        yield chunk
