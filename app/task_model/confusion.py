"""The confusion matrix of a labelled file, for tasks with labels."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bertcore.analysis.attribution import FileRun, MetricTable

from ..shell import Picture, frame
from .python import FILE_CODE
from .score_figures import Confusion, confusion_map, confusion_table, which_labels

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
