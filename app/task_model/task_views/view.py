"""Base class of the task views; its defaults are those of labelled texts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import streamlit as st

from bertcore.analysis.attribution import FileRun, MetricTable, Target, TaskInput
from bertcore.data.columnar import is_columnar
from bertcore.data.exports import column_names
from bertcore.data.files import open_bytes
from bertcore.data.tables import TABLE_FILES

from ...shell import cache, frame
from ...shell.uploads import read_apart
from ..choices import READ_PAIR
from ..model import Inputs

_BLOCK = 1 << 20
_ROW_BYTES = 100
"""About those of a row of texts in Parquet."""


class ExplainedTarget(NamedTuple):
    """What is to be explained."""

    target: Target
    word: int | None
    """The word whose tag it is; None except for a tagger."""


class Errors(NamedTuple):
    """Wording for the worst errors of a file."""

    title: str
    severity: str
    """Column of how bad an error is."""
    is_probability: bool
    """Whether the severity is a probability; else it is a distance."""
    which: str
    """Beginning of the caption."""
    answer: str
    """What may be wrong in the file."""
    is_long: bool = False
    """Whether answers are longer than a label."""


class TaskView(ABC):
    """How the answers of one task are shown, chosen for explanation, and counted in a file."""

    needs_b: ClassVar[str] = ""
    """What to do if sentence B is missing; "" if the task does not need it."""
    example: ClassVar[tuple[str, str]] = ("", "")
    """Texts A and B that are shown if B is missing."""
    reads_pair: ClassVar[bool | None] = None
    """Whether sentence B is read by default; None if there is no choice."""
    upload: ClassVar[str]
    """Label of the upload."""
    files: ClassVar[str] = TABLE_FILES
    """What can be read."""
    columns: ClassVar[Mapping[str, str]] = {
        "text": "Text",
        "text_pair": "Second text",
        "label": "Label",
    }
    """Columns to choose, by field of `Columns`."""
    marks: ClassVar[tuple[bytes, ...]] = (b"\n",)
    """What a file has about once for each example."""
    quality: ClassVar[str] = "right answers"
    """What slices are the mean of."""
    metric_names: ClassVar[Mapping[str, str]] = {}
    """Names of metrics that differ from those of other tasks."""
    is_fraction: ClassVar[bool] = True
    """Whether that is between 0 and 1."""
    beside_calibration: ClassVar[bool] = True
    """Whether `show_file` draws a picture, beside which the calibration is shown."""
    errors: ClassVar[Errors] = Errors(
        title="Most confident, and wrong",
        severity="confidence",
        is_probability=True,
        which="The wrong answers with the highest confidence",
        answer="label",
    )

    def read(self, page: frame.Page) -> Inputs:
        """Draw what may be read of sentence B; return the texts, or an example if B is missing."""
        text_b = page.text_b
        if text_b is None and self.needs_b:
            frame.example_pair(*self.example, f". {self.needs_b}")
            return Inputs(page.bert_key, *self.example)
        if text_b is not None and self.reads_pair is not None:
            key = READ_PAIR.key(default=self.reads_pair)
            text_b = text_b if st.toggle("Read sentence B too", key=key) else None
        return Inputs(page.bert_key, page.text_a, text_b)

    @abstractmethod
    def show(
        self, page: frame.Page, answer: Any, source: TaskInput, setup: str
    ) -> ExplainedTarget | None:
        """Draw the answer and the choice of what is explained; None if there is nothing.

        Args:
            answer: Answer of the task.
            setup: Python that opens the model and reads the input.
        """

    @abstractmethod
    def in_words(self, answer: Any, word: int | None) -> str:
        """Return an answer as Markdown; for a tagger, that of a word."""

    def choose_score_change(self) -> float:
        """Draw how far a score has to move to count as another answer."""
        return 1.0

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return the columns of a file; () if there are none to choose.

        ValueError if the file cannot be read.
        """
        names: tuple[str, ...] = cache.of_file(read_apart, path, column_names)
        return names

    def joint_columns(self, names: Sequence[str], labels: Sequence[str]) -> str | None:
        """Return the columns that together are the label, as `Columns.label` takes them, if any.

        Args:
            names: Names of the file's columns.
            labels: Labels of the model.
        """
        return None

    def rough_number(self, path: Path) -> int:
        """Return about how many examples a file has, for the progress."""
        with open_bytes(path) as file:
            start = file.read(_BLOCK)
            if is_columnar(start):
                return max(1, path.stat().st_size // _ROW_BYTES)
            blocks = chain([start], iter(partial(file.read, _BLOCK), b""))
            return max(1, sum(block.count(mark) for block in blocks for mark in self.marks))

    def show_file(  # noqa: B027 - nothing to add for questions
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw what only this task shows of a file's answers.

        Args:
            metrics: Metrics of the run.
            code: Fills the braces of FILE_CODE.
        """
