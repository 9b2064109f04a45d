"""Distances between heads against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon, pdist, squareform

from bertcore.analysis.heads.similarity import (
    HeadDistances,
    SimilaritySurvey,
    distance_sums,
    head_map,
)
from bertcore.analysis.heads.stream import run_surveys
from bertcore.data.texts_file import Sentence
from tests.support.tiny import tiny_bert

SENTENCES = [
    Sentence("the river bank was steep"),
    Sentence("he", "she went to paris"),
    Sentence(""),
]


@pytest.mark.parity
def test_distances_agree_with_scipy(generator: torch.Generator) -> None:
    maps = torch.softmax(3 * torch.randn(4, 5, 6, generator=generator), dim=-1)
    maps[2] = maps[1]
    found = distance_sums(maps).numpy()
    for a in range(4):
        for b in range(4):
            expected = sum(jensenshannon(maps[a, r], maps[b, r], base=2) for r in range(5))
            assert found[a, b] == pytest.approx(expected, abs=1e-6)
    assert found[1, 2] == pytest.approx(0, abs=1e-7)


def test_distances_worked_by_hand() -> None:
    # All on one token; all on another; half on each: JSD of the last to the others is
    # H(3/4, 1/4) - 1/2 bits.
    maps = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]])
    half = (-0.75 * np.log2(0.75) - 0.25 * np.log2(0.25) - 0.5) ** 0.5
    expected = [[0, 1, half], [1, 0, half], [half, half, 0]]
    np.testing.assert_allclose(distance_sums(maps).numpy(), expected, atol=1e-12)


@pytest.mark.parity
def test_the_survey_is_the_mean_over_all_tokens_of_all_sentences() -> None:
    bert = tiny_bert()
    survey = SimilaritySurvey(len(SENTENCES), bert.config)
    run_surveys(bert, SENTENCES, [survey])
    found = survey.result()
    rows = [
        trace.attentions.flatten(0, 1)[:, token].numpy()
        for trace in (bert.trace(s.text, s.text_pair) for s in SENTENCES)
        for token in range(trace.num_tokens)
    ]
    expected = np.mean(
        [squareform(pdist(r, lambda p, q: jensenshannon(p, q, base=2))) for r in rows], axis=0
    )
    np.testing.assert_allclose(found.matrix, expected, atol=1e-4)
    assert (found.num_compared, found.num_tokens, found.num_heads) == (len(rows), len(rows), 4)


def test_fewer_tokens_are_drawn_where_there_are_too_many() -> None:
    bert = tiny_bert()
    pairs = 8 * 7 // 2

    def survey(sentences: list[Sentence], seed: int) -> HeadDistances:
        made = SimilaritySurvey(3, bert.config, max_comparisons=3 * pairs * 14, seed=seed)
        run_surveys(bert, sentences, [made])
        return made.result()

    found = survey(SENTENCES, 0)
    # 14 weights each: 2 of 7 tokens, 1 of 8, and both of the empty text's two.
    assert (found.num_compared, found.num_tokens) == (5, 17)
    np.testing.assert_array_equal(found.matrix, survey(SENTENCES, 0).matrix)
    assert (survey(SENTENCES, 1).matrix != found.matrix).any()


def test_a_map_of_true_distances_is_exact(generator: torch.Generator) -> None:
    places = torch.randn(9, 2, generator=generator, dtype=torch.float64).numpy()
    matrix = squareform(pdist(places))
    found = head_map(HeadDistances(matrix, 3, 1, 1))
    np.testing.assert_allclose(squareform(pdist(found.positions)), matrix, atol=1e-3)
    assert found.stress < 1e-3
    np.testing.assert_allclose(found.positions.mean(0), 0, atol=1e-9)
    across, up = found.positions.std(0)
    assert across >= up
    np.testing.assert_array_equal(
        found.positions, head_map(HeadDistances(matrix, 3, 1, 1)).positions
    )


def test_a_map_of_more_dimensions_says_how_untrue_it_is() -> None:
    matrix = 1 - np.eye(6)  # a simplex: no plane has six points at equal distances
    found = head_map(HeadDistances(matrix, 3, 1, 1))
    drawn = squareform(pdist(found.positions))
    # Kruskal 1964: stress-1 is over the distances drawn.
    expected = (((drawn - matrix) ** 2).sum() / (drawn**2).sum()) ** 0.5
    assert found.stress == pytest.approx(expected, abs=0.01)
    assert found.stress > 0.2


@pytest.mark.parametrize("num", [1, 2, 5])
def test_few_or_equal_heads(num: int) -> None:
    matrix = np.zeros((num, num))
    assert head_map(HeadDistances(matrix, num, 1, 1)).positions.shape == (num, 2)
    if num == 2:
        found = head_map(HeadDistances(np.array([[0, 0.5], [0.5, 0]]), 2, 1, 1))
        np.testing.assert_allclose(np.abs(found.positions), [[0.25, 0], [0.25, 0]], atol=1e-12)


def test_no_sentence_and_no_number() -> None:
    with pytest.raises(ValueError, match="no attention to compare"):
        SimilaritySurvey(0, tiny_bert().config).result()
    with pytest.raises(ValueError, match="contains NaN"):
        head_map(HeadDistances(np.full((3, 3), np.nan), 1, 1, 1))
