"""Control labels, baselines, code length, expected layer and scores: by hand and by property."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from seqeval.metrics import f1_score

from bertcore.probes import linear as code_module
from bertcore.probes.linear import block_ends, code_length, fit_best
from bertcore.probes.scores import (
    difference_score,
    entity_counts,
    length_mean,
    length_mean_score,
    ratio_score,
    right_counts,
)
from bertcore.probes.word_run import (
    commonest_classes,
    control_labels,
    expected_layer,
    expected_layer_score,
)


def test_control_labels_are_one_for_each_type_and_spread_like_the_real_ones() -> None:
    words = [f"w{n}" for n in range(4000)] * 2 + ["The", "the", "THE"]
    classes = np.array([0] * 6000 + [1] * 1500 + [2] * 503)
    is_train = np.ones(len(words), dtype=np.bool_)
    found = control_labels(words, classes, is_train, seed=4)
    assert (found[:4000] == found[4000:8000]).all()
    assert len(set(found[-3:].tolist())) == 1
    shares = np.bincount(found[:4000]) / 4000
    np.testing.assert_allclose(shares, [0.75, 0.187, 0.063], atol=0.02)
    assert (control_labels(words, classes, is_train, seed=4) == found).all()
    assert (control_labels(words, classes, is_train, seed=5) != found).any()
    only_first = np.arange(len(words)) < 6000
    assert set(control_labels(words, classes, only_first).tolist()) == {0}


def test_baselines_without_vectors_by_hand() -> None:
    words = ["a", "a", "A", "b", "c", "a", "d"]
    classes = np.array([1, 1, 0, 0, 0, 0, 2])
    is_train = np.array([True, True, True, True, True, False, False])
    majority, by_word = commonest_classes(words, classes, is_train)
    assert majority.tolist() == [0] * 7
    assert by_word.tolist() == [1, 1, 1, 0, 0, 1, 0]  # d is not in train: the majority


def test_blocks_are_those_of_the_paper() -> None:
    assert block_ends(1000) == (1, 2, 4, 8, 16, 32, 63, 125, 250, 500, 1000)
    assert block_ends(100_000)[:5] == (100, 200, 400, 800, 1600)
    assert block_ends(10) == (1, 3, 5, 10)  # 0.1% of ten words is no word
    assert block_ends(1) == (1,)


def test_code_length_by_hand() -> None:
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 4, 200)
    states = generator.normal(size=(1, 200, 6)).astype(np.float32)
    states[0, :, :4] += 3 * np.eye(4)[classes]
    dev = (states[:, :50], classes[:50])
    found = code_length((states, classes), dev, 4)
    assert found.uniform_bits == 400  # 200 labels of 2 bits
    ends = block_ends(200)
    assert found.ends == ends
    assert found.block_bits[0] == 2 * ends[0]
    for place, (known, end) in enumerate(itertools.pairwise(ends), start=1):
        probe = fit_best((states[:, :known], classes[:known]), dev, 4)
        chances = probe.log_probabilities(states[:, known:end]).exp().numpy()
        right = chances[np.arange(end - known), classes[known:end]]
        expected = -np.log2(right).sum()
        assert found.block_bits[place] == pytest.approx(expected, rel=1e-4)
    assert found.bits == pytest.approx(math.fsum(found.block_bits))
    assert found.compression == pytest.approx(400 / found.bits)
    assert found.compression > 2


def test_vectors_that_tell_nothing_do_not_compress() -> None:
    generator = np.random.default_rng(1)
    states = generator.normal(size=(1, 400, 4)).astype(np.float32)
    classes = generator.integers(0, 2, 400)
    found = code_module.code_length((states, classes), (states[:, :80], classes[:80]), 2)
    assert found.compression == pytest.approx(1, abs=0.12)


def test_expected_layer_by_hand() -> None:
    # Gains 0.2, 0.1 and 0.1 at the layers 1, 2 and 3: (0.2 + 0.2 + 0.3) / 0.4.
    scores = np.array([0.4, 0.6, 0.7, 0.8])
    assert expected_layer([0, 1, 2, 3], scores) == pytest.approx(1.75)
    assert expected_layer([0, 2, 6], np.array([0.5, 0.75, 1.0])) == pytest.approx(4)
    assert np.isnan(expected_layer([0, 1], np.array([0.5, 0.5])))


def test_expected_layer_of_sentences_has_an_interval() -> None:
    generator = np.random.default_rng(0)
    right = generator.binomial(20, [[0.3, 0.6, 0.9]] * 200)
    counts = np.stack([right, np.full((200, 3), 20)], axis=-1).astype(float)
    found = expected_layer_score([0, 1, 2], counts)
    assert found is not None
    assert found.value == pytest.approx(expected_layer([0, 1, 2], right.sum(0) / 4000))
    assert found.low < found.value < found.high
    assert found.high - found.low < 0.2
    assert expected_layer_score([0, 1, 2], counts[:, ::-1]) is None
    flat = np.stack([np.full((9, 2), 5.0), np.full((9, 2), 10.0)], axis=-1)
    flat[0, 1, 0] = 6  # one word of ninety: most draws are without it
    unsure = expected_layer_score([0, 1], flat)
    assert unsure is not None
    assert unsure.value == 1
    assert math.isnan(unsure.low)


def test_scores_are_ratios_with_intervals_over_sentences() -> None:
    sentence = np.array([3, 3, 5, 5, 5, 9])
    right = np.array([True, False, True, True, True, False])
    counts = right_counts(right, sentence)
    assert counts.tolist() == [[1, 2], [3, 3], [0, 1]]
    score = ratio_score(counts)
    assert score.value == pytest.approx(4 / 6)
    assert 0 <= score.low < score.value < score.high <= 1
    same = difference_score(counts, counts)  # the same sentences are drawn for both
    assert (same.value, same.low, same.high) == (0, 0, 0)


def test_entities_are_counted_like_seqeval() -> None:
    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC"], ["O"]]
    answers = [["B-PER", "O", "O"], ["O", "B-LOC"], ["B-ORG"]]
    counts = entity_counts(gold, answers)
    assert counts.tolist() == [[0, 2], [2, 2], [0, 1]]
    assert ratio_score(counts).value == pytest.approx(f1_score(gold, answers))


def test_a_mean_over_lengths_by_hand() -> None:
    values, lengths = np.array([1.0, 0.0, 0.4]), np.array([5, 5, 9])
    assert length_mean(values, lengths) == pytest.approx((0.5 + 0.4) / 2)


def test_the_interval_over_lengths_covers_the_true_mean_about_as_often_as_it_says() -> None:
    """Rare lengths weigh as much as common ones, so a plain bootstrap would be biased."""
    generator = np.random.default_rng(0)
    lengths = np.repeat(np.arange(5, 30), np.linspace(12, 1, 25).round().astype(int))
    truth = 0.9 - 0.02 * np.arange(5, 30)
    values = truth[lengths - 5] + generator.normal(0, 0.15, (400, len(lengths)))
    scores = [length_mean_score(row, lengths) for row in values]
    covered = np.mean([score.low <= truth.mean() <= score.high for score in scores])
    assert 0.92 <= covered <= 0.98


def test_lengths_of_one_sentence_each_have_no_interval() -> None:
    score = length_mean_score(np.array([0.2, 0.4, 0.9]), np.array([5, 6, 7]))
    assert score.value == pytest.approx(0.5)
    assert np.isnan([score.low, score.high]).all()
