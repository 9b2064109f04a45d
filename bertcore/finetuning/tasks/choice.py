"""Multiple choice: one of several ends of a text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bertcore.configs.columns import USUAL, Columns
from bertcore.finetuning.data.examples import ChoiceExample
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.data.read_choices import read_choices
from bertcore.finetuning.data.rows import RowBuilder
from bertcore.finetuning.tasks.classify import score_classes
from bertcore.finetuning.tasks.judged import Outputs, Scored, ScoreOptions, WrongAnswer
from bertcore.finetuning.tasks.task import Task
from bertcore.finetuning.tasks.task_data import TaskData
from bertcore.tokenizer import Tokenizer


class Choose(Task):
    """One of several ends; each is a row, whose score is compared with the others'."""

    name = "choice"
    kind = "choice"
    metrics = ("accuracy",)
    has_labels = False
    decision = None
    why_no_decision = "several texts at once"

    def num_outputs(self, labels: Sequence[str]) -> int:
        """Return 1, the score of a choice."""
        return 1

    def read(
        self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
    ) -> Iterator[ChoiceExample]:
        """Yield the examples of a table in the form of SWAG, all with equally many choices."""
        num = 0
        for example in read_choices(path, columns=columns, bad_rows=bad_rows):
            num = num or len(example.choices)
            if len(example.choices) == num:
                yield example
            else:
                bad_rows.add(
                    f"{example.where} of {str(path)!r} has {len(example.choices)} choices; the "
                    f"others have {num}."
                )

    def rows(
        self,
        examples: Iterable[ChoiceExample],
        tokenizer: Tokenizer,
        *,
        max_length: int,
        labels: Sequence[str] | None,
        doc_stride: int = 128,
        is_train: bool = True,
    ) -> TaskData:
        """Tokenize each choice into a row of its own."""
        builder = RowBuilder(tokenizer, max_length)
        targets = array("i")
        group = 1
        for example in examples:
            group = len(example.choices)
            text, *ends = tokenizer.encode_ids([example.text, *example.choices])
            for end in ends:
                builder.add(text, end)
            targets.append(example.answer)
        rows = builder.build(np.array(targets, dtype=np.int64), group=group)
        return TaskData(task=self, rows=rows, labels=(), num_examples=len(targets))

    def check_splits(self, train: TaskData, dev: TaskData) -> None:
        """Refuse data sets with different numbers of choices."""
        if train.rows.group != dev.rows.group:
            raise ValueError(
                f"the training data has {train.rows.group} choices and the dev data "
                f"{dev.rows.group}. They must have equally many."
            )

    def wrong_answer(
        self, example: ChoiceExample, prediction: Mapping[str, Any], number: int
    ) -> WrongAnswer | None:
        """Return a wrong end; the higher its confidence, the more severe."""
        gold, predicted = int(prediction["gold"]), int(prediction["predicted"])
        if gold == predicted:
            return None
        ends, severity = example.choices, float(prediction["confidence"])
        return WrongAnswer(example.row, example.text, None, ends[gold], ends[predicted], severity)

    def score(self, outputs: Iterable[Outputs], data: TaskData, options: ScoreOptions) -> Scored:
        """Return the accuracy."""
        return score_classes(outputs, data, (), options, only=self.metrics)
