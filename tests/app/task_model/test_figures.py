"""Pictures of a task model's answers: scales, names and room for them."""

from __future__ import annotations

import numpy as np
import pytest

from app.plots import Figure
from app.plots.before_after import AnswerRows, answer_bars
from app.task_model.answer_figures import tagged_words
from app.task_model.score_figures import LABEL_SCORES, confusion_map, which_labels
from app.task_model.task_views.bars import LabelView
from bertcore.analysis.attribution import LabelAnswer, TagAnswer, Word


def word(text: str, place: int) -> Word:
    return Word(start=place, end=place + 1, text=text, text_id=0)


def label_bars(answer: LabelAnswer, chosen: int) -> Figure:
    chart = LabelView.picture.chart
    assert chart is not None
    return chart.figure(answer, chosen=chosen)


def test_a_number_as_label_is_called_a_label() -> None:
    p = np.array([0.2, 0.5, 0.3], dtype=np.float32)
    fig = label_bars(LabelAnswer(("0", "1", "praise"), p), 1)
    assert list(fig.plotly().data[0].customdata) == ["label 1", "praise", "label 0"]
    rows = AnswerRows(("1", "0"), (np.array([0.6, 0.4]), np.array([0.1, 0.9])))
    assert list(answer_bars(rows, ("a", "b"), "class").plotly().data[0].customdata) == [
        "label 1",
        "label 0",
    ]
    assert list(answer_bars(rows, ("a", "b"), "word").plotly().data[0].customdata) == [
        "1",
        "0",
    ]


def test_an_unsure_answer_has_a_shorter_bar_than_a_sure_one() -> None:
    """The bars of two texts are compared by eye, so their scale must not follow the highest."""
    spans = [
        label_bars(LabelAnswer(("a", "b"), np.array([p, 1 - p], np.float32)), 0)
        for p in (0.54, 0.99)
    ]
    assert spans[0].plotly().layout.xaxis.range == spans[1].plotly().layout.xaxis.range


def test_a_difference_of_scores_is_told() -> None:
    rows = AnswerRows(("score",), (np.array([1.853]), np.array([1.371])))
    assert answer_bars(rows, ("a", "b"), "score").plotly().data[2].text[0].endswith("−0.48")


def test_the_chosen_word_is_framed_in_a_colour_of_its_own() -> None:
    labels = ("O", *(f"B-{kind}" for kind in "ABCDEFGH"))
    found = TagAnswer(labels, np.eye(len(labels), dtype=np.float32))
    words = [word(f"w{i}", i) for i in range(len(labels))]
    fig = tagged_words(words, found, 4)
    *boxes, frame = [trace for trace in fig.plotly().data if trace.type == "bar"]
    assert frame.hoverinfo == "skip"  # a click reaches the word below
    chosen = next(box for box in boxes if any(place == 4 for place, _ in box.customdata))
    assert (frame.base[0], frame.x[0]) == (chosen.base[0], chosen.x[0])
    assert frame.marker.line.color not in {box.marker.color for box in boxes}


@pytest.mark.parametrize("number", [40, 41])
def test_labels_that_are_not_drawn_are_told(number: int) -> None:
    labels = [f"l{i}" for i in range(number)]
    confused = confusion_map(np.eye(number, dtype=int), labels)
    scores = {label: {"precision": 1, "recall": 1, "f1": 1, "number": 1} for label in labels}
    for fig in (confused, LABEL_SCORES.figure(scores)):
        drawn = len(fig.plotly().layout.yaxis.tickvals)
        told = which_labels(number)
        assert told == "" if drawn == number else f"Of {number} labels, the {drawn} with" in told
