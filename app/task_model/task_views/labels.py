"""The views of labels: of "classify" and "pair" the most probable, of "multilabel" each."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import streamlit as st

from bertcore.analysis.attribution import (
    ClassTarget,
    FileRun,
    LabelAnswer,
    LabelsAnswer,
    LabelTarget,
    MetricTable,
    TaskInput,
)
from bertcore.data.labels import match_labels
from bertcore.evaluation.metrics import label_set_metrics

from ...plots import label_name, percent, plain, shorten_middle
from ...shell import Picture, frame
from ..answer_figures import AnswerBars, label_table, labels_table, named
from ..choices import LABEL, PREDICTED
from ..model import ANSWER_CODE, FILE_CODE
from ..score_figures import (
    confusion_map,
    confusion_table,
    label_dots,
    label_score_table,
    which_labels,
)
from .view import ExplainedTarget, TaskView

MOST_NAMED = 4
"""Most labels that a sentence names."""

ALL_LABELS = Picture(
    name="inspect-each-label",
    chart=AnswerBars(
        table=labels_table, name=named, is_grey=lambda labels: ~labels["given"], is_sorted=True
    ),
    how=(
        "The model's probability of each label on its own (sigmoid of the head's output), so they "
        "need not sum to 100%. The text gets the labels above 50%; the others are grey. The label "
        "in pink is explained below."
    ),
    code=ANSWER_CODE,
)
EACH_LABEL = Picture(
    name="inspect-label-scores",
    figure=label_dots,
    table=label_score_table,
    how=(
        "For each label, with the number of texts that have it in brackets: precision is the "
        "fraction of the texts given the label that have it, recall the fraction of the texts with "
        "the label that were given it, F1 their harmonic mean. Micro F1 counts all labels' answers "
        "together, so frequent ones weigh more; macro F1 is the mean of the pink dots. Calibration "
        "and slices are of a text's whole set of labels.{which}"
    ),
    code=FILE_CODE,
)


class LabelsView(TaskView):
    """Any number of labels for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its labels in each row"
    quality = "mean F1 of a text's labels"
    metric_names: ClassVar[Mapping[str, str]] = {"accuracy": "Exact match"}
    errors = TaskView.errors._replace(is_long=True)

    def show(
        self, page: frame.Page, answer: LabelsAnswer, source: TaskInput, setup: str
    ) -> ExplainedTarget:
        """Draw the labels as bars, and the choice of one."""
        st.header(f"The model gives it {_listed(answer)}", anchor=False)
        label = show_labels(page, ALL_LABELS, answer, setup, "the most probable one")
        return ExplainedTarget(LabelTarget(label), None)

    def in_words(self, answer: LabelsAnswer, word: int | None) -> str:
        """Return the labels that are given, with their probabilities."""
        given = answer.given[:MOST_NAMED]
        if not given:
            p = percent(float(answer.probabilities.max()))
            return f"**none** of the labels, at most {p}"
        named = [label_in_words(answer.labels[i], float(answer.probabilities[i])) for i in given]
        more = len(answer.given) - len(given)
        return ", ".join(named) + (f" and {more} more" if more else "")

    def joint_columns(self, names: Sequence[str], labels: Sequence[str]) -> str | None:
        """Return the columns of all labels, as `Columns.label` takes them, if there are such."""
        match = match_labels(names, labels)
        columns = [name for name in names if name in match]
        is_clear = not any("," in name for name in columns)
        return ",".join(columns) if is_clear and len(columns) == len(labels) > 1 else None

    def show_file(
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw precision, recall and F1 of each label."""
        st.header("Label by label", anchor=False)
        gold, predicted = run.gold.astype(bool), run.predicted.astype(bool)
        *_, scores = label_set_metrics(gold, predicted, run.labels, with_intervals=False)
        EACH_LABEL.show(page, scores, setup="", which=which_labels(len(scores)), **code)


def _listed(answer: LabelsAnswer) -> str:
    """Return the labels that are given as Markdown."""
    given = answer.given
    if not given:
        return f"**none** of its {len(answer.labels):,} labels"
    names = [f"**{plain(shorten_middle(label_name(answer.labels[i])))}**" for i in given]
    shown = names[:MOST_NAMED]
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED} more labels")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


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
    CONFUSION.show(page, metrics.confusion, run.labels, setup="", which=which, **code)


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
