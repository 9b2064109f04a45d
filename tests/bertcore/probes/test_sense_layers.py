"""Senses of a word by layer: plain sums, scikit-learn, single runs, and texts without the word."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bertcore.analysis.space.sense_sets import SETS
from bertcore.data.texts_file import Sentence
from bertcore.evaluation.intervals import wilson_interval
from bertcore.probes.sense_layers import (
    L2,
    leave_one_out,
    pair_cosines,
    probe_accuracy,
    word_effects,
    word_vectors,
)
from tests.support.tiny import tiny_bert

SENTENCES = (
    Sentence("the river bank was steep.", None, "river"),
    Sentence("he sat on the bank of a river", None, "river"),
    Sentence("The BANK had fish", None, "river"),
    Sentence("she went to the bank for money", None, "money"),
    Sentence("the bank had money", None, "money"),
    Sentence("he bought a bank", None, "money"),
)
LABELS = [sentence.label for sentence in SENTENCES]


def clouds(apart: float, num: int = 12, seed: int = 0) -> tuple[np.ndarray, list[str]]:
    """Return points [2, 2 num, 8] of two senses, and the senses; the first layer has no gap."""
    points = np.random.default_rng(seed).normal(size=(2, 2 * num, 8)).astype(np.float32)
    points[1, :num] += apart
    return points, ["a"] * num + ["b"] * num


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_vectors_are_those_of_the_trace() -> None:
    bert = tiny_bert()
    found = word_vectors(bert, SENTENCES, "Bank")
    assert found.labels == tuple(LABELS)
    for number, sentence in enumerate(SENTENCES):
        trace = bert.trace(sentence.text)
        place = [token.lower() for token in trace.tokens].index("bank")
        states = trace.hidden_states.numpy()
        np.testing.assert_allclose(found.vectors[:, number], states[:, place], atol=1e-5)
    # The last sentence's other words have one piece each, but "bought", of the vocabulary too.
    trace = bert.trace("he bought a bank")
    assert list(trace.tokens[1:-1]) == ["he", "bought", "a", "bank"]
    others = trace.hidden_states.numpy()[:, 1:4].mean(1)
    np.testing.assert_allclose(found.context[:, 5], others, atol=1e-5)


def test_cosines_equal_the_plain_sums_over_pairs() -> None:
    vectors, labels = clouds(1.0, num=4)
    found = pair_cosines(vectors, labels)
    for layer, points in enumerate(unit(vectors)):
        pairs = list(itertools.combinations(range(8), 2))
        same = np.mean([points[i] @ points[j] for i, j in pairs if labels[i] == labels[j]])
        different = np.mean([points[i] @ points[j] for i, j in pairs if labels[i] != labels[j]])
        assert found.same.mean[layer] == pytest.approx(same, abs=1e-6)
        assert found.different.mean[layer] == pytest.approx(different, abs=1e-6)
        assert found.gap.mean[layer] == pytest.approx(same - different, abs=1e-6)


def test_intervals_hold_zero_where_there_is_no_gap() -> None:
    vectors, labels = clouds(1.5)
    gap = pair_cosines(vectors, labels).gap
    assert gap.low[0] < 0 < gap.high[0]
    assert 0 < gap.low[1] < gap.mean[1] < gap.high[1]


def test_intervals_of_three_sentences_a_sense() -> None:
    """Some draws hold one sentence of each sense alone, and so no pair of the same sense."""
    vectors, labels = clouds(1.5, num=3)
    found = pair_cosines(vectors, labels)
    for interval in (found.same, found.different, found.gap):
        assert np.isfinite(np.array(interval)).all()


def test_probes_equal_scikit_learns() -> None:
    vectors, labels = clouds(0.6, num=8, seed=3)
    classes = np.array(labels) == "b"
    right = []
    for points in vectors.astype(np.float64):
        number_right = 0
        for out in range(len(points)):
            rest = np.arange(len(points)) != out
            mean, scale = points[rest].mean(0), points[rest].std(0)
            scaled = np.hstack([(points - mean) / scale, np.ones((len(points), 1))])
            # Two weight vectors under a penalty are one of twice its size, and of half the penalty.
            probe = LogisticRegression(C=2 / (L2 * rest.sum()), fit_intercept=False, tol=1e-8)
            probe.fit(scaled[rest], classes[rest])
            number_right += int(probe.predict(scaled[[out]])[0] == classes[out])
        right.append(number_right)
    found = leave_one_out(vectors, labels)
    assert found.mean == pytest.approx(np.array(right) / 16)
    np.testing.assert_allclose(found, wilson_interval(right, [16, 16]))
    assert 0.5 < found.mean[1] < 1  # neither trivial nor hopeless, so that the two could differ


def test_a_probe_is_tested_on_other_texts() -> None:
    vectors, labels = clouds(3.0)
    others, gold = clouds(3.0, num=5, seed=9)
    found = probe_accuracy(vectors, labels, others, gold)
    assert found.mean[1] == 1
    assert found.mean[0] < 1
    swapped = probe_accuracy(vectors, labels, others, gold[::-1])
    assert swapped.mean[1] == 0


def test_an_effect_is_the_margin_lost_without_a_word() -> None:
    bert = tiny_bert()
    effects = word_effects(bert, SENTENCES, "bank", 2)
    (one,) = [e for e in effects if e.sentence == 0 and e.word == "river"]
    assert one.distance == -1
    found = word_vectors(bert, SENTENCES, "bank").vectors[2]
    own, other = unit(unit(found)[[1, 2]].mean(0)), unit(unit(found)[3:].mean(0))
    hidden = bert.trace("the [MASK] bank was steep.").hidden_states.numpy()[2, 3]
    margins = [unit(v) @ own - unit(v) @ other for v in (found[0], hidden)]
    assert one.effect == pytest.approx(margins[0] - margins[1], abs=1e-5)
    assert {e.word for e in effects if e.sentence == 0} == {"the", "river", "was", "steep"}
    assert all(abs(e.effect) < 1e-6 for e in word_effects(bert, SENTENCES, "bank", 0) if e.sentence)


@pytest.mark.parametrize(
    ("sentences", "word", "telling"),
    [
        (SENTENCES[:4], "bank", "at least 3"),
        ([s._replace(label="") for s in SENTENCES], "bank", "expected a label"),
        (SENTENCES, "zebra", "'zebra' is not in"),
        (SENTENCES, "", "'' is not in"),
        ((*SENTENCES, Sentence("<img src=x> " * 3, None, "river")), "bank", "<img"),
        ((), "bank", "expected a label"),
    ],
    ids=["few", "unlabelled", "absent", "no-word", "hostile", "none"],
)
def test_bad_input_is_a_sentence(sentences: list[Sentence], word: str, telling: str) -> None:
    with pytest.raises(ValueError, match=telling):
        word_vectors(tiny_bert(), sentences, word)


def test_a_layer_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="0 to 2"):
        word_effects(tiny_bert(), SENTENCES, "bank", 3)


@pytest.mark.parametrize("word", sorted(SETS))
def test_each_sentence_of_ours_has_its_word_once(word: str) -> None:
    for sentence in SETS[word]:
        words = sentence.text.lower().replace(".", " ").split()
        assert words.count(word) == 1
    assert len({sentence.text for sentence in SETS[word]}) == len(SETS[word])
