"""What the page's own figure and tables draw; its charts are tested in tests/app/plots."""

import re

import numpy as np
import pytest

from app.plots.formats import percent
from app.screens.sentence_pairs.views import ANSWER, EVERY_HEAD, MASS, MATRIX
from bertcore import Bert, NextSentence
from bertcore.analysis.words.next_sentence import next_sentence_matrix, pair_attention

A, B, C = "The river bank was steep.", "It had rained.", "He bought milk"


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.25])
def test_the_bars_are_both_classes(p: float) -> None:
    (drawn,) = ANSWER.draw(NextSentence(p, 1 - p)).plotly().data
    assert list(drawn.x) == [p, 1 - p]
    follows, random = drawn.text
    assert follows == f"<b>B follows A</b>  {percent(p)}"
    assert percent(1 - p) in random


def test_the_lines_are_the_means_and_the_bands_the_range(bert: Bert) -> None:
    mass = pair_attention(bert, bert.trace(A, B))
    picture = MASS.draw(mass).plotly()
    for way, (source, target) in enumerate((("A", "B"), ("B", "A"))):
        band, line, even = picture.data[3 * way : 3 * way + 3]
        between = mass.between(source, target)
        np.testing.assert_allclose(line.y, between.mean(1), rtol=1e-4)
        assert list(line.x) == [0, 1]
        np.testing.assert_allclose(band.y[:2], between.max(1))
        np.testing.assert_allclose(band.y[2:][::-1], between.min(1))
        assert line.name == f"{source} to {target}"
        tokens = bert.tokenize(A, B)
        share = tokens.text_ids.count("AB".index(target)) / len(tokens)
        np.testing.assert_allclose(even.y, share, atol=1e-6)


def test_the_heat_maps_share_one_scale(bert: Bert) -> None:
    mass = pair_attention(bert, bert.trace(A, B))
    first, second = MASS.draw(mass, chart=EVERY_HEAD).plotly().data
    np.testing.assert_allclose(first.z, mass.between("A", "B"))
    np.testing.assert_allclose(second.z, mass.between("B", "A"))
    assert (first.zmin, first.zmax) == (second.zmin, second.zmax)
    assert first.zmax == pytest.approx(max(first.z.max(), second.z.max()))


@pytest.mark.parametrize("count", [2, 12])
def test_the_matrix_shows_each_number_but_the_diagonal(bert: Bert, count: int) -> None:
    matrix = next_sentence_matrix(bert, [f"{A} {'it ' * i}" for i in range(count)])
    picture = MATRIX.draw(matrix).plotly()
    np.testing.assert_array_equal(picture.data[0].z, matrix.values)
    expected = ["" if np.isnan(v) else f"{v:.1%}" for v in matrix.values.ravel()]
    text = [re.sub("<.*?>", "", cell) for row in picture.data[0].text for cell in row]
    assert text == expected
    assert picture.layout.yaxis.range == (count - 0.5, -0.5)
    assert len(picture.layout.yaxis.ticktext) == count
