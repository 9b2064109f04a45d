"""The exam: what is right, a tie or wrong, by group."""

import numpy as np
import pytest

from bertcore import Bert, load
from bertcore.data.files import BadRows
from bertcore.training.evaluation.intervals import wilson_interval
from bertcore.training.grammar import (
    MinimalPair,
    PairScore,
    PretrainingExam,
    accuracies,
    bundled_pairs,
    pseudo_log_likelihoods,
    score_pairs,
)
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

PAIRS = [
    MinimalPair("the river was steep", "the rivers was steep", ("a",), 1),
    MinimalPair("she went to paris", "she went paris to", ("a",), 2),
    MinimalPair("he sat on the mat", "HE SAT on the mat", ("b",), 3),
]


def taken(bert: Bert, pairs: list[MinimalPair] = PAIRS, **options: object) -> list[PairScore]:
    return [score for part in score_pairs(bert, pairs, **options) for score in part]  # type: ignore[arg-type]


def test_scores_are_those_of_the_sentences(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.training.grammar.exam.PAIRS_AT_ONCE", 2)
    scores = taken(bert)
    assert [score.pair for score in scores] == PAIRS
    for score in scores:
        encodings = [bert.tokenize(score.pair.good), bert.tokenize(score.pair.bad)]
        expected = pseudo_log_likelihoods(bert, encodings)
        np.testing.assert_allclose([score.good, score.bad], expected, atol=1e-4)


def test_the_same_tokens_are_a_tie_whatever_their_batches_gave(
    bert: Bert, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in other batches, whose rounding puts them more than TIE apart."""
    scores = np.linspace(-9.0, -8.0, 6)
    monkeypatch.setattr(
        "bertcore.training.grammar.exam.pseudo_log_likelihoods", lambda *_, **__: scores
    )
    first, _, same = taken(bert)
    assert first.margin < 0
    assert same.margin == 0
    assert not same.is_right
    assert same.good == same.bad


def test_groups_are_counted_and_ties_are_wrong() -> None:
    scores = [
        PairScore(PAIRS[0], -1.0, -2.0),
        PairScore(PAIRS[1], -2.0, -1.0),
        PairScore(PAIRS[2], -2.0, -2.0 - 1e-9),
    ]
    everything, a, b = accuracies(scores, ["letter"])
    assert (everything.num_pairs, everything.num_right, everything.num_ties) == (3, 1, 1)
    assert (a.column, a.group, a.num_pairs, a.num_right, a.num_ties) == ("letter", "a", 2, 1, 0)
    assert (b.group, b.accuracy, b.num_ties) == ("b", 0.0, 1)
    interval = wilson_interval(0, 1)  # a group of one pair
    assert [b.low, b.high] == [float(interval.low), float(interval.high)]
    with pytest.raises(ValueError, match="no pair to count"):
        accuracies([], [])


def test_what_cannot_be_scored_is_one_sentence(bert: Bert) -> None:
    long = MinimalPair("the river " * 40, "the", (), 7)
    with pytest.raises(ValueError, match=r"row 7 has a sentence of \d+ tokens, .*most 64"):
        taken(bert, [long])
    blank = MinimalPair("the", "\u200b\ufeff", (), 8)
    with pytest.raises(ValueError, match="row 8 has a sentence without a token"):
        taken(bert, [blank])
    bad_rows = BadRows(skip=True)
    unknown = MinimalPair("the 河 was", "the 河 were", (), 1)
    kept = taken(bert, [long, unknown, blank], bad_rows=bad_rows)
    assert [(score.pair, score.num_unknown) for score in kept] == [(unknown, 2)]
    assert bad_rows.num == 2


def test_weights_that_are_no_numbers_are_no_score() -> None:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    network.layers[0].attention.output.weight.data[0, 0] = float("nan")
    with pytest.raises(ValueError, match="the scores contain NaN or infinity"):
        taken(Bert(network, tiny_tokenizer()))


def test_a_run_takes_our_pairs_where_it_can_read_them() -> None:
    shipped = load("default", device="cpu")
    network, tokenizer = shipped.module, shipped.tokenizer
    network.train()
    accuracy = PretrainingExam(tokenizer, 512).accuracy(network)
    assert network.training
    network.eval()
    pairs = bundled_pairs()
    expected = accuracies(taken(shipped, list(pairs.pairs)), [])[0]
    assert accuracy == expected.accuracy > 0.7

    headless = tiny_network(tiny_config(vocab_size=tokenizer.vocab_size), heads=frozenset())
    assert PretrainingExam(tokenizer, 512).accuracy(headless) is None
    assert PretrainingExam(tokenizer, 8).accuracy(network) is None  # too short for the pairs
    # The tiny vocabulary spells most words letter by letter.
    bert = tiny_bert()
    assert PretrainingExam(bert.tokenizer, 512).accuracy(bert.module) is None
