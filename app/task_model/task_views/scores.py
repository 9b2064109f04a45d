"""The view of "regress": a score."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import FileRun, MetricTable, ScoreAnswer

from ...shell import Picture, frame
from ..choices import SCORE_CHANGE
from ..model import ANSWER_CODE, FILE_CODE, TaskPage
from ..score_figures import score_dots, score_dots_table
from .view import Errors, ExplainedTarget, TaskView


def score_table(answer: ScoreAnswer) -> pd.DataFrame:
    """Return the score, and the head's output."""
    output = answer.score if answer.output is None else answer.output
    return pd.DataFrame({"score": [answer.score], "output": [output]})


SCORE = Picture(
    name="inspect-score",
    table=score_table,
    how="A score of the head; a regression does not say how certain it is.",
    code=ANSWER_CODE,
)
SCORES = Picture(
    name="inspect-scores",
    figure=score_dots,
    table=score_dots_table,
    how="Each dot is a row of the file. On the dotted line the prediction is exact.",
    code=FILE_CODE,
)


class ScoreView(TaskView):
    """A score for a text or pair."""

    reads_pair = True
    upload = "A table with a text or pair and its score in each row"
    quality = "mean distance from the true score"
    is_fraction = False
    beside_calibration = False
    errors = Errors(
        title="Furthest from the truth",
        severity="distance",
        is_probability=False,
        which="The rows whose score is furthest from the true one",
        answer="score",
    )

    def show(self, task: TaskPage, answer: ScoreAnswer) -> ExplainedTarget:
        """Draw the score."""
        st.header(f"The model gives the score **{answer.score:.3f}**", anchor=False)
        if answer.output is not None:
            st.caption(f"The sigmoid of the head's output, {answer.output:.3f}.")
        SCORE.offer(task.page, answer, setup=task.setup())
        return ExplainedTarget(answer.target(task.source))

    def in_words(self, answer: ScoreAnswer, word: int | None) -> str:
        """Return the score."""
        return f"Score **{answer.score:.3f}**"

    def choose_score_change(self) -> float:
        """Draw how far the score has to move."""
        return st.number_input(
            "The score has to move by",
            0.1,
            100.0,
            step=0.1,
            key=SCORE_CHANGE.key(low=0.1, high=100.0),
            width=220,
        )

    def show_file(
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw predicted over true scores."""
        st.header("Predicted over true scores", anchor=False)
        SCORES.show(page, run, setup="", **code)
