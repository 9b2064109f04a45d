"""Pictures of the Inspect page and of the answers on Compare: scales, names and room for them."""

from __future__ import annotations

import numpy as np
import pytest

from app.compare import figures as compare
from app.inspect_checkpoint import answer_figures, attribution_figures, file_figures, layer_figures
from bertcore.analysis.attribution import Faithfulness, LabelAnswer, TagAnswer, Word


def word(text: str, place: int) -> Word:
    return Word(start=place, end=place + 1, text=text, text_id=0)


def test_a_number_as_label_is_called_a_label() -> None:
    fig = answer_figures.label_bars(
        LabelAnswer(("0", "1", "praise"), np.array([0.2, 0.5, 0.3], dtype=np.float32)), 1
    )
    assert list(fig.plotly().data[0].customdata) == ["label 1", "praise", "label 0"]
    rows = compare.AnswerRows(("1", "0"), (np.array([0.6, 0.4]), np.array([0.1, 0.9])), 0)
    assert list(compare.answer_bars(rows, ("a", "b"), "class").plotly().data[0].customdata) == [
        "label 1",
        "label 0",
    ]
    assert list(compare.answer_bars(rows, ("a", "b"), "word").plotly().data[0].customdata) == [
        "1",
        "0",
    ]


def test_an_unsure_answer_has_a_shorter_bar_than_a_sure_one() -> None:
    """The bars of two texts are compared by eye, so their scale must not follow the highest."""
    spans = [
        answer_figures.label_bars(LabelAnswer(("a", "b"), np.array([p, 1 - p], np.float32)), 0)
        for p in (0.54, 0.99)
    ]
    assert spans[0].plotly().layout.xaxis.range == spans[1].plotly().layout.xaxis.range


def test_a_difference_of_scores_is_told() -> None:
    rows = compare.AnswerRows(("score",), (np.array([1.853]), np.array([1.371])), 0)
    assert compare.answer_bars(rows, ("a", "b"), "score").plotly().data[2].text[0].endswith("−0.48")


def test_the_chosen_word_is_framed_in_a_colour_of_its_own() -> None:
    labels = ("O", *(f"B-{kind}" for kind in "ABCDEFGH"))
    found = TagAnswer(labels, np.eye(len(labels), dtype=np.float32))
    words = [word(f"w{i}", i) for i in range(len(labels))]
    fig = answer_figures.tagged_words(answer_figures.TaggedText(words, found), 4)
    *boxes, frame = [trace for trace in fig.plotly().data if trace.type == "bar"]
    assert frame.hoverinfo == "skip"  # a click reaches the word below
    chosen = next(box for box in boxes if any(place == 4 for place, _ in box.customdata))
    assert (frame.base[0], frame.x[0]) == (chosen.base[0], chosen.x[0])
    assert frame.marker.line.color not in {box.marker.color for box in boxes}


@pytest.mark.parametrize("number", [40, 41])
def test_labels_that_are_not_drawn_are_told(number: int) -> None:
    labels = [f"l{i}" for i in range(number)]
    confused = file_figures.confusion_map(file_figures.Confusion(np.eye(number, dtype=int), labels))
    scores = {label: {"precision": 1, "recall": 1, "f1": 1, "number": 1} for label in labels}
    for fig in (confused, file_figures.label_dots(scores)):
        drawn = len(fig.plotly().layout.yaxis.tickvals)
        told = file_figures.which_labels(number)
        assert told == "" if drawn == number else f"Of {number} labels, the {drawn} with" in told


@pytest.mark.parametrize("count", [3, 14])
def test_words_below_a_grid_have_room(count: int) -> None:
    words = [word("word", i) for i in range(count)]
    rows = attribution_figures.method_rows(
        attribution_figures.WordRows(words, {"one": np.ones(count)}), is_dark=False
    )
    layers = layer_figures.conductance_map(
        layer_figures.LayerRows(words, np.ones((2, count)), np.zeros(2)), is_dark=False
    )
    for fig in (rows, layers):
        assert fig.plotly().layout.margin.b >= 34  # ticks, a gap and a line of letters


def test_the_numbers_of_faithfulness_stand_where_nothing_is_drawn() -> None:
    bins = (0.1, 0.5)
    one, other = (
        Faithfulness(
            bins=bins,
            num_words=(1, 2),
            comprehensiveness=np.array([c, c], dtype=np.float32),
            sufficiency=np.array([s, s], dtype=np.float32),
        )
        for c, s in ((0.4, -0.1), (0.1, 0.3))
    )
    fig = attribution_figures.faithfulness_dots(
        attribution_figures.Compared({"one": one}, [other, one]), unit="probability"
    )
    for dots, numbers in (fig.plotly().data[:2], fig.plotly().data[2:]):
        drawn = [*dots.x, dots.x[1] + dots.error_x.array[1]]
        assert min(numbers.x) > max(drawn)
    assert [line.x0 for line in fig.plotly().layout.shapes] == pytest.approx(
        [0.25, 0.1]
    )  # of chance
    assert list(fig.plotly().data[1].text) == ["+0.400", "+0.250"]
    assert list(fig.plotly().data[3].text) == ["−0.100", "+0.100"]
