"""Pictures of sentence pairs: numbers are drawn as they are, text is never markup."""

from __future__ import annotations

import numpy as np
import pytest

from app.plots.formats import percent
from app.sentence_pairs import answer, page, several
from bertcore import Bert
from bertcore.analysis.words.next_sentence import (
    Variant,
    attention_mass,
    next_sentence_matrix,
    pair_variants,
)
from tests.support.tiny import tiny_bert

A, B, C = "The river bank was steep.", "It had rained.", "He bought milk"
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.mark.parametrize("p", [0.0, 1e-9, 0.25, 0.5, 0.999999, 1.0])
def test_the_bar_is_both_classes(p: float) -> None:
    fig = answer.probability_bar(p)
    assert [trace.x[0] for trace in fig.plotly().data] == [p, 1 - p]
    follows, random = (annotation.text for annotation in fig.plotly().layout.annotations)
    assert percent(p) in follows
    assert "follows" in follows
    assert percent(1 - p) in random


def test_each_variant_has_its_dot_its_name_and_its_difference(bert: Bert) -> None:
    variants = pair_variants(bert, A, B, (C,))
    fig = answer.variant_dots(variants)
    (dots,) = fig.plotly().data
    assert list(dots.x) == [v.is_next for v in variants]
    text = [annotation.text for annotation in fig.plotly().layout.annotations]
    for variant in variants[:-1]:
        assert variant.name in text
    assert f"B = <i>{C}</i>" in text
    assert f"<b>{percent(variants[0].is_next)}</b>" in text
    change = 100 * (variants[1].is_next - variants[0].is_next)
    assert f"<b>{percent(variants[1].is_next)}</b>  {change:+.1f}" in text


def test_hostile_sentences_are_text() -> None:
    variants = (
        Variant("as written", HOSTILE, HOSTILE, 0.5),
        Variant("another B", HOSTILE, HOSTILE, 0.6),
    )
    matrix = np.array([[np.nan, 0.5], [0.5, np.nan]], dtype=np.float32)
    for fig in (
        answer.variant_dots(variants),
        several.pair_matrix([HOSTILE, HOSTILE], matrix),
    ):
        assert "<img" not in str(fig.plotly().to_plotly_json())
        assert "&lt;" in str(fig.plotly().to_plotly_json())


def test_the_lines_are_the_means_and_the_bands_the_range(bert: Bert) -> None:
    found = attention_mass(bert.trace(A, B))
    picture = page.mass_lines(found).plotly()
    for way, (source, target) in enumerate((("A", "B"), ("B", "A"))):
        band, line, even = picture.data[3 * way : 3 * way + 3]
        mass = found.between(source, target)
        np.testing.assert_allclose(line.y, mass.mean(1))
        assert list(line.x) == [0, 1]
        np.testing.assert_allclose(band.y[:2], mass.max(1))
        np.testing.assert_allclose(band.y[2:][::-1], mass.min(1))
        assert line.name == f"{source} to {target}"
        tokens = bert.tokenize(A, B)
        share = tokens.text_ids.count("AB".index(target)) / len(tokens)
        np.testing.assert_allclose(even.y, share, atol=1e-6)


def test_the_heat_maps_share_one_scale(bert: Bert) -> None:
    found = attention_mass(bert.trace(A, B))
    fig = page.mass_heatmaps(found)
    np.testing.assert_array_equal(fig.plotly().data[0].z, found.between("A", "B"))
    np.testing.assert_array_equal(fig.plotly().data[1].z, found.between("B", "A"))
    assert {trace.coloraxis for trace in fig.plotly().data} == {"coloraxis"}
    assert fig.plotly().layout.coloraxis.cmin == 0
    assert fig.plotly().layout.coloraxis.cmax == max(trace.z.max() for trace in fig.plotly().data)


@pytest.mark.parametrize("count", [2, 5, 12])
def test_the_matrix_shows_each_number_but_the_diagonal(bert: Bert, count: int) -> None:
    sentences = [f"{A} {'it ' * i}" for i in range(count)]
    matrix = next_sentence_matrix(bert, sentences)
    picture = several.pair_matrix(sentences, matrix).plotly()
    np.testing.assert_array_equal(picture.data[0].z, matrix)
    for i in range(count):
        for j in range(count):
            expected = "" if i == j else percent(float(matrix[i, j]))
            assert picture.data[1].text[i * count + j] == expected
    assert picture.layout.yaxis.range == (count - 0.5, -0.5)
    assert len(picture.layout.yaxis.ticktext) == count


def test_tables_have_a_row_for_each_number(bert: Bert) -> None:
    variants = pair_variants(bert, A, B)
    assert answer.variants_table(variants).p_is_next.tolist() == [v.is_next for v in variants]
    matrix = next_sentence_matrix(bert, [A, B, C])
    table = several.matrix_table([A, B, C], matrix)
    assert len(table) == 6
    row = table[(table.text_a == A) & (table.text_b == C)]
    assert row.p_is_next.item() == matrix[0, 2]
