"""Multiple choice: one of several choices for a text, such as its endings."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import ChoiceExample, where
from bertcore.data.files import BadRows
from bertcore.data.read_rows import read_choices
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.evaluation.metrics import class_metrics
from bertcore.training.tasks.answers import Goal
from bertcore.training.tasks.classify import LabelAnswer
from bertcore.training.tasks.inputs import ChoiceInput, TaskInput
from bertcore.training.tasks.judged import JudgedAnswers, MetricTable, WrongAnswer
from bertcore.training.tasks.rows import RowBuilder
from bertcore.training.tasks.task import RowForm, Task
from bertcore.training.tasks.task_data import TaskData


@dataclass(frozen=True, slots=True)
class ChoiceAnswer(LabelAnswer):
    """A distribution over the choices of a text, which are its `labels`."""

    def goal(self, source: TaskInput, word: int | None, label: int | None, change: float) -> Goal:
        """Return the goal of a different most probable choice, swapping only words of the text."""
        fixed = frozenset(i for i, word in enumerate(source.words) if word.text_id > 0)
        return replace(LabelAnswer.goal(self, source, word, label, change), fixed=fixed)


class Choose(Task):
    """One of several choices; each is a row, whose score is compared with the others'."""

    name = "choice"
    kind = "choice"
    metrics = ("accuracy",)
    has_labels = False
    reads_choices: ClassVar[bool] = True
    decision = None
    why_no_decision = "several texts at once"

    def num_outputs(self, labels: Sequence[str]) -> int:
        return 1

    def read(
        self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
    ) -> Iterator[ChoiceExample]:
        """Yield the examples of a table in SWAG format, all with the same number of choices."""
        num = 0
        for example in read_choices(path, columns=columns, bad_rows=bad_rows):
            num = num or len(example.choices)
            if len(example.choices) == num:
                yield example
            else:
                bad_rows.add(
                    f"{where(example)} of {str(path)!r} has {len(example.choices)} choices; the "
                    f"others have {num}."
                )

    def rows(
        self, examples: Iterable[ChoiceExample], tokenizer: Tokenizer, form: RowForm
    ) -> TaskData:
        """Tokenize each choice into its own row."""
        builder = RowBuilder(tokenizer, form.max_length)
        targets = array("i")
        group = 1
        for example in examples:
            group = len(example.choices)
            text, *ends = tokenizer.encode_ids([example.text, *example.choices])
            for end in ends:
                builder.add(text, end)
            targets.append(example.answer)
        rows = builder.build(np.array(targets, dtype=np.int64), group=group)
        return TaskData(rows=rows, labels=(), num_examples=len(targets))

    def check_splits(self, train: TaskData, dev: TaskData) -> None:
        """Reject data sets with different numbers of choices."""
        if train.rows.group != dev.rows.group:
            raise ValueError(
                f"the training data has {train.rows.group} choices and the dev data "
                f"{dev.rows.group}. They must have the same number."
            )

    def check_input(self, source: TaskInput) -> None:
        """Reject fewer than two choices."""
        num = len(source.choices) if isinstance(source, ChoiceInput) else 0
        if num < 2:
            raise ValueError(
                f"there {'is 1 choice' if num == 1 else 'are 0 choices'}; expected at least 2 to "
                "compare. Give task_input `choices`."
            )

    def answer(self, source: TaskInput, logits: Tensor, labels: tuple[str, ...]) -> ChoiceAnswer:
        assert isinstance(source, ChoiceInput)
        return ChoiceAnswer(source.choices, torch.softmax(logits, -1).numpy())

    def file_metrics(
        self, answers: JudgedAnswers, labels: Sequence[str], *, with_intervals: bool = True
    ) -> MetricTable:
        """Return the accuracy; each choice is scored separately, so its place is meaningless."""
        gold, predicted = answers.gold.astype(np.int64), answers.predicted.astype(np.int64)
        num = 1 + int(max(gold.max(), predicted.max()))
        metrics, intervals, _ = class_metrics(gold, predicted, num, with_intervals=with_intervals)
        return MetricTable(
            {name: metrics[name] for name in self.metrics},
            {name: intervals[name] for name in self.metrics if name in intervals},
        )

    def wrong_answer(
        self, example: ChoiceExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong ending; the higher its confidence, the more severe."""
        gold, predicted = int(prediction["gold"]), int(prediction["predicted"])
        if gold == predicted:
            return None
        ends, severity = tuple(example.choices), float(prediction["confidence"])
        return WrongAnswer(
            example.row, example.text, None, ends[gold], ends[predicted], severity, choices=ends
        )
