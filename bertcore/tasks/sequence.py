"""The common base of tasks on a table of texts or pairs: reading, and one row per text."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.columns import TextForm
from bertcore.data.examples import Example, LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.data.read_rows import read_texts
from bertcore.tasks.judged import WrongAnswer
from bertcore.tasks.rows import RowBuilder
from bertcore.tasks.task import Task
from bertcore.tasks.task_data import LabelNumbers, TaskData
from bertcore.tokenizer import Tokenizer

_AT_ONCE = 2000


class SequenceTask(Task):
    """A label, several labels or a score per text or pair, read from [CLS] or the tokens' mean."""

    kind = "sequence"
    form: ClassVar[TextForm]
    """What is read from each row of a table."""

    def read(self, path: Path, *, columns: Columns = USUAL, bad_rows: BadRows) -> Iterator[Example]:
        """Yield the rows of a table; see `read_texts`."""
        return read_texts(path, form=self.form, columns=columns, bad_rows=bad_rows)

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
        """Tokenize each text or pair into one row."""
        builder = RowBuilder(tokenizer, max_length)
        answers: list[Any] = []
        for chunk in _chunks(examples):
            answers += map(self.answer_of, chunk)
            # Of two long texts, their whole lengths decide which tokens are read.
            num_read = max_length if not any(example.text_pair for example in chunk) else None
            first = tokenizer.encode_ids([e.text for e in chunk], num_read=num_read)
            second = tokenizer.encode_ids([example.text_pair or "" for example in chunk])
            for example, a, b in zip(chunk, first, second, strict=True):
                builder.add(a, None if example.text_pair is None else b)
        names, targets = self.targets(answers, labels)
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
