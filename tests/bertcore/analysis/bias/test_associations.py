"""WEAT: by hand, against a plain loop, and on a checkpoint's words."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from bertcore import Bert
from bertcore.analysis.bias import (
    AssociationTest,
    Group,
    associate,
    association,
    known_tests,
    word_vectors,
)
from bertcore.analysis.bias.associations import Vectors


def vectors(number: int, seed: int) -> Vectors:
    return np.random.default_rng(seed).normal(size=(number, 6))


def plain(x: Vectors, y: Vectors, a: Vectors, b: Vectors) -> tuple[float, float]:
    """Return effect size and exact p-value as the paper defines them, by loops."""

    def s(w: Vectors) -> float:
        near, far = (np.mean([1 - cosine(w, each) for each in set_]) for set_ in (a, b))
        return float(near - far)

    scores = [s(w) for w in (*x, *y)]
    n = len(x)
    effect = (np.mean(scores[:n]) - np.mean(scores[n:])) / np.std(scores)
    values = []
    for chosen in combinations(range(len(scores)), n):
        rest = [i for i in range(len(scores)) if i not in chosen]
        values.append(np.mean([scores[i] for i in chosen]) - np.mean([scores[i] for i in rest]))
    observed = np.mean(scores[:n]) - np.mean(scores[n:])
    return float(effect), float(np.mean([value >= observed - 1e-12 for value in values]))


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5)])
def test_equals_the_definition(sizes: tuple[int, int]) -> None:
    x, y, a, b = vectors(sizes[0], 0), vectors(sizes[1], 1), vectors(3, 2), vectors(2, 3)
    found = association(x, y, a, b)
    effect, p_value = plain(x, y, a, b)
    assert found.effect_size == pytest.approx(effect)
    assert found.p_value == pytest.approx(p_value)


def test_worked_by_hand() -> None:
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    x, y = np.array([[2.0, 0.0], [5.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 3.0]])
    found = association(x, y, a, b)
    # Scores 1, 1, -1, -1: means 1 and -1, standard deviation 1; one of six partitions is as good.
    assert found.scores == ((1.0, 1.0), (-1.0, -1.0))
    assert found.effect_size == pytest.approx(2.0)
    assert found.p_value == pytest.approx(1 / 6)
    assert association(y, x, a, b).effect_size == pytest.approx(-2.0)


def test_drawn_partitions_are_near_the_exact_value(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = vectors(6, 0), vectors(6, 1), vectors(3, 2), vectors(3, 3)
    exact = association(*sets)
    monkeypatch.setattr("bertcore.analysis.bias.associations.MOST_EXACT", 900)
    drawn = association(*sets)
    spread = np.sqrt(exact.p_value * (1 - exact.p_value) / 900)
    assert abs(drawn.p_value - exact.p_value) < 4 * spread + 2 / 900
    assert association(*sets, seed=0) == drawn


def test_rounding_is_no_effect_and_zero_vectors_are_refused() -> None:
    generator = np.random.default_rng(0)
    same = generator.normal(size=64)
    x, y = np.tile(same, (7, 1)), np.tile(same, (8, 1))
    found = association(x, y, generator.normal(size=(8, 64)), generator.normal(size=(8, 64)))
    assert (found.effect_size, found.p_value) == (0.0, 1.0)
    with pytest.raises(ValueError, match="a vector is zero"):
        association(x, y * 0, x, y)


def test_vectors_of_words(bert: Bert) -> None:
    table = bert.module.token_table.detach().numpy()
    ids = bert.tokenizer.encode_word("rivers")
    np.testing.assert_allclose(word_vectors(bert, ["rivers"])[0], table[ids].mean(0), atol=1e-6)
    found = word_vectors(bert, ["river", "it"], layer=1)
    expected = bert.trace("it").hidden_states[1].mean(0)
    np.testing.assert_allclose(found[1], expected, atol=1e-5)
    with pytest.raises(ValueError, match="'\u4e00' cannot be written"):
        word_vectors(bert, ["river", "\u4e00"])


def test_tests_with_too_few_known_words_are_left_out(bert: Bert) -> None:
    two = Group("x", ("man", "house")), Group("y", ("woman", "shop", "\u4e00"))
    test = AssociationTest("t", two, (Group("a", ("good", "new")), Group("b", ("bad", "old"))))
    other = replace(test, attributes=(Group("a", ("\u4e00", "new")), test.attributes[1]))
    (known,) = known_tests(bert, [test, other])
    assert known.targets[1].words == ("woman", "shop")
    expected = association(*(word_vectors(bert, group.words) for group in known.sets))
    assert associate(bert, known) == expected
    with pytest.raises(ValueError, match="this checkpoint's vocabulary cannot write"):
        known_tests(bert, [other])
