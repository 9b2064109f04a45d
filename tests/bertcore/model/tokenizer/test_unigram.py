"""Unigram: equal to the library's segmentation, and to a sum over all ways to cut a word."""

import math
from collections.abc import Iterator

import pytest
from tokenizers import Tokenizer, models

from bertcore.model.tokenizer import Unigram, train_unigram
from bertcore.model.tokenizer.growth import count_words
from bertcore.training.pretraining.data.corpus import NOVEL, read_documents

SCORES = {"▁": -1.0, "a": -2.0, "b": -2.5, "▁a": -2.2, "ab": -1.7, "ba": -3.0, "▁ab": -4.0}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [text for document in read_documents([NOVEL.valid]) for text in document][:60]


@pytest.fixture(scope="module")
def unigram(texts: list[str]) -> Unigram:
    return train_unigram(texts, 300)


def ways(word: str) -> Iterator[tuple[str, ...]]:
    """Yield all ways to cut a word into pieces of SCORES."""
    if not word:
        yield ()
    for end in range(1, len(word) + 1):
        if word[:end] in SCORES:
            yield from ((word[:end], *rest) for rest in ways(word[end:]))


@pytest.mark.parametrize("word", ["a", "ab", "abab", "aabba", ""])
def test_segmentations_are_all_ways_with_their_probabilities(word: str) -> None:
    every = {way: math.exp(sum(SCORES[piece] for piece in way)) for way in ways("▁" + word)}
    found = Unigram(SCORES).segmentations(word, 1000)
    assert {one.pieces for one in found} == every.keys()
    for one in found:
        assert one.probability == pytest.approx(every[one.pieces] / sum(every.values()))
    assert [one.probability for one in found] == sorted(
        (one.probability for one in found), reverse=True
    )
    few = Unigram(SCORES).segmentations(word, 2)
    assert [one.probability for one in few] == pytest.approx([one.probability for one in found[:2]])


def test_the_best_is_that_of_the_library(texts: list[str], unigram: Unigram) -> None:
    assert 250 < len(unigram.scores) <= 300
    vocab = [("[UNK]", 0.0), *unigram.scores.items()]
    library = Tokenizer(models.Unigram(vocab, unk_id=0))
    words = list(count_words(texts))[:800]
    assert len(words) == 800
    for word in words:
        (best,) = unigram.segmentations(word)
        theirs = library.encode("▁" + word).tokens
        assert "".join(best.pieces) == "▁" + word
        ours, wanted = (sum(unigram.scores[p] for p in way) for way in (best.pieces, theirs))
        assert ours == pytest.approx(wanted, abs=1e-9)


def test_pieces_are_those_of_the_librarys_trainer(texts: list[str], unigram: Unigram) -> None:
    """Which begins with text as written: the sign of a word's start and the counts are ours."""
    from tokenizers import pre_tokenizers, trainers

    library = Tokenizer(models.Unigram())
    library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.UnigramTrainer(
        vocab_size=301, show_progress=False, unk_token="[UNK]", special_tokens=["[UNK]"]
    )
    counts = count_words(texts)
    lines = [" ".join(["▁" + word] * count) for word, count in counts.items()]
    library.train_from_iterator(lines, trainer=trainer)
    assert library.get_vocab().keys() - {"[UNK]"} == unigram.scores.keys()


def test_bad_input_is_a_sentence(texts: list[str], unigram: Unigram) -> None:
    with pytest.raises(ValueError, match="no word"):
        train_unigram([" ", ""], 50)
    with pytest.raises(ValueError, match="vocab_size is 5, less than"):
        train_unigram(texts, 5)
    assert unigram.segmentations("\u4e00") == ()
    assert unigram.segmentations("a" * 101) == unigram.segmentations("a" * 10**6, 4) == ()
    assert "b" not in train_unigram(["a " * 9, "b" * 101], 50).scores
