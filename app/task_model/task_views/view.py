"""Base class of the task views; its defaults are those of labelled texts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import streamlit as st

from bertcore.analysis.attribution import FileRun, MetricTable, Target
from bertcore.data.exports import column_names
from bertcore.data.tables import TABLE_FILES
from bertcore.tasks.model import TaskModel

from ...shell import Picture, cache, frame
from ...shell.uploads import read_apart
from ..choices import READ_PAIR
from ..model import FILE_CODE, Inputs, TaskPage
from ..score_figures import confusion_map, confusion_table, which_labels

CONFUSION = Picture(
    name="inspect-confusion",
    figure=confusion_map,
    table=confusion_table,
    how=(
        "Rows are the true labels, columns the predicted ones; colour is the fraction of the row. "
        "Right answers are on the diagonal. A bright cell off the diagonal is a pair of labels "
        "that the model often confuses.{which}"
    ),
    code=FILE_CODE,
)


class ExplainedTarget(NamedTuple):
    """What is to be explained."""

    target: Target
    word: int | None = None
    """The word whose tag it is; None except for a tagger."""


class Errors(NamedTuple):
    """Wording for the worst errors of a file."""

    title: str = "Most confident, and wrong"
    severity: str = "confidence"
    """Column of how bad an error is."""
    is_probability: bool = True
    """Whether the severity is a probability; else it is a distance."""
    which: str = "The wrong answers with the highest confidence"
    """Beginning of the caption."""
    answer: str = "label"
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
    is_fraction: ClassVar[bool] = True
    """Whether that is between 0 and 1."""
    metric_names: ClassVar[Mapping[str, str]] = {}
    """Names of metrics that differ from those of other tasks."""
    beside_calibration: ClassVar[bool] = True
    """Whether `show_file` draws a picture, beside which the calibration is shown."""
    errors: ClassVar[Errors] = Errors()

    def read(self, page: frame.Page, model: TaskModel) -> TaskPage:
        """Draw what may be read of sentence B; return the texts, or an example if B is missing."""
        text_a, text_b = page.texts
        if text_b is None and self.needs_b:
            text_a, text_b = self.example
            frame.example_pair(text_a, text_b, f". {self.needs_b}")
        elif text_b is not None and self.reads_pair is not None:
            key = READ_PAIR.key(default=self.reads_pair)
            text_b = text_b if st.toggle("Read sentence B too", key=key) else None
        texts = Inputs(page.bert_key, text_a, text_b)
        return TaskPage(page, model, texts, texts.read_by(model))

    @abstractmethod
    def show(self, task: TaskPage, answer: Any) -> ExplainedTarget | None:
        """Draw the answer and the choice of what is explained; None if there is nothing."""

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

    def show_file(
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw what only this task shows of a file's answers: a confusion matrix, if it has one.

        Args:
            metrics: Metrics of the run.
            code: Fills the braces of FILE_CODE.
        """
        if metrics.confusion is not None:
            st.header("Confusion matrix", anchor=False)
            which = which_labels(len(run.labels))
            CONFUSION.show(page, metrics.confusion, run.labels, setup="", which=which, **code)
