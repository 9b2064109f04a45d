"""The view of "classify" and "pair": the probability of each label."""

from collections.abc import Mapping
from typing import Any, ClassVar

import streamlit as st

from bertcore.analysis.attribution import (
    ClassTarget,
    FileRun,
    LabelAnswer,
    LabelsAnswer,
    MetricTable,
    TaskInput,
)

from ...plots import label_name, percent, plain, shorten_middle
from ...shell import Picture, frame
from ..answer_figures import AnswerBars, label_table, named
from ..choices import LABEL, PREDICTED
from ..model import ANSWER_CODE, FILE_CODE
from ..score_figures import Confusion, confusion_map, confusion_table, which_labels
from .view import ExplainedTarget, TaskView

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


def show_confusion(
    page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
) -> None:
    """Draw the confusion matrix.

    Args:
        run: The answers.
        metrics: Metrics of the run.
        code: Fills the braces of FILE_CODE.
    """
    assert metrics.confusion is not None
    st.header("Confusion matrix", anchor=False)
    which = which_labels(len(run.labels))
    confusion = Confusion(metrics.confusion, run.labels)
    CONFUSION.show(page, confusion, setup="", which=which, **code)


LABELS = Picture(
    name="inspect-labels",
    chart=AnswerBars(table=label_table, name=named, is_sorted=True),
    how=(
        "The model's probability of each label: softmax(*W* h + *b*), where *W* has a row for each "
        "label and h is the vector of the text that the head reads. The calibration "
        "curve of a labelled file shows how far to trust it. The label in pink is explained below."
    ),
    code=ANSWER_CODE,
)


class LabelView(TaskView):
    """A label for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its label in each row"

    def show(
        self, page: frame.Page, answer: LabelAnswer, source: TaskInput, setup: str
    ) -> ExplainedTarget:
        """Draw the labels as bars, and the choice of one."""
        predicted = shorten_middle(label_name(answer.labels[answer.best]))
        p = percent(float(answer.probabilities[answer.best]))
        st.header(f"The model says **{plain(predicted)}**, with {p}", anchor=False)
        label = show_labels(page, LABELS, answer, setup, "the predicted one")
        return ExplainedTarget(ClassTarget(label), None)

    def in_words(self, answer: LabelAnswer, word: int | None) -> str:
        """Return the most probable label."""
        return label_in_words(answer.labels[answer.best], float(answer.probabilities.max()))

    def show_file(
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw the confusion matrix."""
        show_confusion(page, run, metrics, code)


class PairView(LabelView):
    """A label for two texts."""

    needs_b = "This model classifies a pair of texts. Write the second one as sentence B."
    example = ("A man is playing a guitar on the street.", "Somebody makes music outside.")
    reads_pair = None
    upload = "A table with two texts and their label in each row"


def show_labels(
    page: frame.Page, picture: Picture, answer: LabelAnswer | LabelsAnswer, setup: str, best: str
) -> int:
    """Draw the labels as bars and the choice of one; return it.

    Args:
        best: What the best one is called in the list.
    """
    key = LABEL.key(options=[PREDICTED, *range(len(answer.labels))])
    label = answer.best if LABEL.value == PREDICTED else LABEL.value
    picture.show(page, answer, drawn={"chosen": label}, setup=setup, with_caption=False)
    name = shorten_middle(label_name(answer.labels[answer.best]))
    choose_label(answer.labels, key, f"{best}: {name}")
    picture.caption()
    return label


def choose_label(labels: tuple[str, ...], key: str, predicted: str) -> None:
    """Draw the choice of the label that is explained.

    Args:
        labels: Names of the classes.
    """
    st.selectbox(
        "Explain the label",
        [PREDICTED, *range(len(labels))],
        format_func=lambda i: (
            predicted if i == PREDICTED else shorten_middle(label_name(labels[i]))
        ),
        key=key,
        width=300,
    )


def label_in_words(label: str, probability: float) -> str:
    """Return a label with its probability as Markdown."""
    return f"**{plain(shorten_middle(label_name(label)))}** with {percent(probability)}"
