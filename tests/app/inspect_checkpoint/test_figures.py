"""Pictures of the Inspect page: scales, names and room for them."""

from __future__ import annotations

import numpy as np
import pytest

from app.inspect_checkpoint import attribution_figures
from bertcore.analysis.attribution import Faithfulness, Word


def word(text: str, place: int) -> Word:
    return Word(start=place, end=place + 1, text=text, text_id=0)


@pytest.mark.parametrize("count", [3, 14])
def test_words_below_a_grid_have_room(count: int) -> None:
    words = [word("word", i) for i in range(count)]
    rows = attribution_figures.method_rows(words, {"one": np.ones(count)}, is_dark=False)
    layers = attribution_figures.conductance_map(words, {"0": np.ones(count)}, is_dark=False)
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
    fig = attribution_figures.faithfulness_dots({"one": one}, [other, one], unit="probability")
    for dots, numbers in (fig.plotly().data[:2], fig.plotly().data[2:]):
        drawn = [*dots.x, dots.x[1] + dots.error_x.array[1]]
        assert min(numbers.x) > max(drawn)
    assert [line.x0 for line in fig.plotly().layout.shapes] == pytest.approx(
        [0.25, 0.1]
    )  # of chance
    assert list(fig.plotly().data[1].text) == ["+0.400", "+0.250"]
    assert list(fig.plotly().data[3].text) == ["−0.100", "+0.100"]
