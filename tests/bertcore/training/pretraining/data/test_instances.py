"""Instances: equal to a literal reading of the specification, draw for draw."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertcore.training.pretraining import PackedCorpus, create_instances, pack_corpus
from bertcore.training.pretraining.data.rows import create_ordered_pairs
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_tokenizer

Documents = list[list[list[int]]]


def flat(sentences: list[list[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def literal_instances(
    documents: Documents, max_seq_length: int, short_seq_prob: float, rng: Random
) -> list[tuple[list[int], list[int], int]]:
    """Steps 1 to 5 and 7 of Google's algorithm in the words of the specification, on lists."""
    found = []
    max_tokens = max_seq_length - 3
    for index, document in enumerate(documents):
        target = max_tokens
        if rng.random() < short_seq_prob:
            target = rng.randint(2, max_tokens)
        unread = list(document)
        while unread:
            chunk: list[list[int]] = []
            while unread and len(flat(chunk)) < target:
                chunk.append(unread.pop(0))
            alone = len(chunk) == 1
            cut = 1 if alone else rng.randint(1, len(chunk) - 1)
            a, right = flat(chunk[:cut]), chunk[cut:]
            is_random = alone or rng.random() < 0.5
            if is_random:
                for _ in range(10):
                    other = rng.randint(0, len(documents) - 1)
                    if other != index:
                        break
                place = rng.randint(0, len(documents[other]) - 1)
                b: list[int] = []
                for sentence in documents[other][place:]:
                    b = b + sentence
                    if len(b) >= target - len(a):
                        break
                unread = right + unread
            else:
                b = flat(right)
            while len(a) + len(b) > max_tokens:
                longer = a if len(a) > len(b) else b
                longer.pop(0 if rng.random() < 0.5 else -1)
            found.append((a, b, int(is_random)))
    return found


def packed(documents: Documents) -> PackedCorpus:
    sentences = [sentence for document in documents for sentence in document]
    return PackedCorpus(
        ids=np.array(flat(sentences), dtype=np.int32),
        sentence_starts=np.cumsum([0, *map(len, sentences)]).astype(np.int64),
        document_starts=np.cumsum([0, *map(len, documents)]).astype(np.int64),
        fingerprint="",
    )


def numbered(lengths: list[list[int]]) -> Documents:
    """Documents of sentences of these lengths; every token has a number of its own."""
    numbers = iter(range(10**6))
    return [[[next(numbers) for _ in range(n)] for n in document] for document in lengths]


def our_instances(
    documents: Documents, max_seq_length: int, short_seq_prob: float, rng: Random
) -> list[tuple[list[int], list[int], int]]:
    corpus = packed(documents)
    made = create_instances(
        corpus, max_seq_length=max_seq_length, short_seq_prob=short_seq_prob, rng=rng
    )
    return [
        (corpus.ids[a:b].tolist(), corpus.ids[c:d].tolist(), int(label))
        for (a, b, c, d), label in zip(made.spans, made.labels, strict=True)
    ]


lengths = st.lists(st.lists(st.integers(1, 25), min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(lengths, st.integers(5, 40), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(0, 10**9))
def test_equal_to_the_literal_algorithm(
    lengths: list[list[int]], max_seq_length: int, short_seq_prob: float, seed: int
) -> None:
    documents = numbered(lengths)
    ours, theirs = Random(seed), Random(seed)
    expected = literal_instances(documents, max_seq_length, short_seq_prob, theirs)
    assert our_instances(documents, max_seq_length, short_seq_prob, ours) == expected
    assert ours.random() == theirs.random()  # not one draw more or less


def test_documents_in_blocks_are_cut_as_all_at_once() -> None:
    corpus = small_corpus(30)
    ours, theirs = Random(4), Random(4)
    expected = create_instances(corpus, max_seq_length=24, rng=theirs)
    parts = [
        create_instances(corpus, max_seq_length=24, rng=ours, documents=range(start, start + 10))
        for start in (0, 10, 20)
    ]
    assert np.array_equal(np.concatenate([part.spans for part in parts]), expected.spans)
    assert np.array_equal(np.concatenate([part.labels for part in parts]), expected.labels)
    assert len(create_instances(corpus, max_seq_length=24, rng=ours, documents=range(0))) == 0


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
    assert pairs.labels.mean() == pytest.approx(0.5, abs=4 * (0.25 / len(pairs)) ** 0.5)
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
