"""Pairs that follow each other: whose texts they are, how many are exchanged, what makes none."""

from random import Random

import numpy as np
import pytest

from bertcore.pretraining import pack_corpus
from bertcore.pretraining.data.instances import create_ordered_pairs
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_tokenizer


@pytest.mark.parametrize("length", [16, 48])
def test_texts_follow_each_other_in_one_document(length: int) -> None:
    corpus = small_corpus(60)
    pairs = create_ordered_pairs(corpus, max_seq_length=length, rng=Random(1))
    assert len(pairs) > 60
    assert (pairs.lengths <= length).all()
    assert (pairs.lengths >= 5).all()
    documents = corpus.sentence_starts[corpus.document_starts]
    exchanged = pairs.labels == 1
    first = np.where(exchanged[:, None], pairs.spans[:, 2:], pairs.spans[:, :2])
    second = np.where(exchanged[:, None], pairs.spans[:, :2], pairs.spans[:, 2:])
    assert (first[:, 1] <= second[:, 0]).all()
    where = [np.searchsorted(documents, part[:, 0], side="right") for part in (first, second)]
    np.testing.assert_array_equal(*where)
    # Nothing is cut where both fit: then one begins where the other ends.
    short = pairs.lengths < length
    np.testing.assert_array_equal(first[short, 1], second[short, 0])


def test_half_are_exchanged_or_as_many_as_asked_for() -> None:
    """Within four standard errors of a share of a half."""
    corpus = small_corpus(400)
    pairs = create_ordered_pairs(corpus, max_seq_length=24, rng=Random(2))
    assert pairs.share_random == pytest.approx(0.5, abs=4 * (0.25 / len(pairs)) ** 0.5)
    in_order = create_ordered_pairs(corpus, max_seq_length=24, swapped=0.0, rng=Random(2))
    assert not in_order.labels.any()


def test_a_lone_sentence_makes_no_pair() -> None:
    corpus = pack_corpus([["one dog."], ["a cat.", "the river."], ["fish."]], tiny_tokenizer())
    pairs = create_ordered_pairs(corpus, max_seq_length=24, swapped=0.0, rng=Random(0))
    starts = corpus.sentence_starts.tolist()
    assert pairs.spans.tolist() == [[starts[1], starts[2], starts[2], starts[3]]]


def test_the_same_seed_gives_the_same_pairs_and_short_rows_are_refused() -> None:
    corpus = small_corpus()
    a, b = (create_ordered_pairs(corpus, max_seq_length=24, rng=Random(3)) for _ in range(2))
    np.testing.assert_array_equal(a.spans, b.spans)
    with pytest.raises(ValueError, match="expected at least 5"):
        create_ordered_pairs(corpus, max_seq_length=4, rng=Random(0))
