"""A vocabulary that grows merge by merge: equal to the library's BPE, and what each rule wants."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as FastTokenizer
from tokenizers import models, normalizers, pre_tokenizers, trainers

from bertcore.model.tokenizer import SPECIAL_TOKENS, train_vocabulary
from bertcore.model.tokenizer.growth import (
    RULES,
    Growth,
    Rule,
    count_words,
    grow_vocabulary,
    split_by_merges,
)
from bertcore.training.pretraining.data.corpus import NOVEL, read_documents
from tests.support.nasty_text import LETTERS, PARAGRAPH


def merges_of_library(texts: list[str], num_merges: int, min_frequency: int) -> list[list[str]]:
    """Return the merges of the library's BPE trainer, its ties broken in the same order."""
    characters = Counter("".join(count_words(texts)))
    continuing = sorted({f"##{c}" for word in count_words(texts) for c in word[1:]})
    fast = FastTokenizer(models.BPE())
    fast.normalizer = normalizers.BertNormalizer(lowercase=True)
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=len(continuing) + len(characters) + num_merges,
        min_frequency=min_frequency,
        special_tokens=continuing,
        initial_alphabet=sorted(characters),
        continuing_subword_prefix="##",
        show_progress=False,
    )
    fast.train_from_iterator(texts, trainer)
    merges: list[list[str]] = json.loads(fast.to_str())["model"]["merges"]
    return merges


def pairs_of(growth: Growth) -> list[list[str]]:
    return [[pair.left, pair.right] for pair in growth.merges]


@pytest.mark.parametrize("texts", [[PARAGRAPH], [PARAGRAPH, LETTERS], ["aaaa aaa aaaaa banana"]])
@pytest.mark.parametrize("min_frequency", [1, 2, 3])
def test_merges_by_count_are_those_of_the_library(texts: list[str], min_frequency: int) -> None:
    growth = grow_vocabulary(texts, num_merges=10_000, min_frequency=min_frequency)
    assert pairs_of(growth) == merges_of_library(texts, 10_000, min_frequency)
    assert not growth.steps[-1].candidates


def test_three_hundred_merges_of_the_novel_are_those_of_the_library_and_of_our_trainer() -> None:
    texts = [text for document in read_documents([NOVEL.valid]) for text in document]
    growth = grow_vocabulary(texts, num_merges=300)
    assert pairs_of(growth) == merges_of_library(texts, 300, 2)
    vocab = train_vocabulary(texts, vocab_size=300)
    learned = [piece for piece in vocab if piece not in {*SPECIAL_TOKENS, *growth.alphabet}]
    assert learned == [pair.merged for pair in growth.merges][: len(learned)]
    assert len(learned) > 150


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(alphabet="aab é.", min_size=1, max_size=12), min_size=1, max_size=6))
@example(["aaa aaaa"])
@pytest.mark.parametrize("rule", RULES)
def test_the_counts_are_those_of_the_text(rule: Rule, texts: list[str]) -> None:
    words = count_words(texts)
    if not words:
        with pytest.raises(ValueError, match="no word"):
            grow_vocabulary(texts, num_merges=3)
        return
    growth = grow_vocabulary(texts, num_merges=3, rule=rule, min_frequency=1, num_candidates=1000)
    pieces: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for word, count in words.items():
        split = split_by_merges(word, growth.merges)
        assert "".join(piece.removeprefix("##") for piece in split) == word
        for piece in split:
            pieces[piece] += count
        for pair in pairwise(split):
            pairs[pair] += count
    last = growth.steps[-1]
    assert last.num_pieces == pieces.total()
    assert len(growth.steps) == len(growth.merges) + 1
    assert growth.num_words == words.total()
    assert {(one.left, one.right): one.count for one in last.candidates} == pairs
    for one in last.candidates:
        assert (one.count_left, one.count_right) == (pieces[one.left], pieces[one.right])
    scores = [one.count if rule == "count" else one.likelihood for one in last.candidates]
    assert scores == sorted(scores, reverse=True)


def test_likelihood_prefers_pieces_that_always_stand_together() -> None:
    texts = ["the then they this that " * 5 + "qu qu qu"]
    by_count = grow_vocabulary(texts, num_merges=1)
    by_likelihood = grow_vocabulary(texts, num_merges=1, rule="likelihood")
    assert by_count.merges[0].merged == "th"
    assert by_likelihood.merges[0].merged == "qu"
    assert by_likelihood.merges[0].likelihood == pytest.approx(3 / (3 * 3))
    assert by_count.merges[0].likelihood == pytest.approx(25 / (25 * 25))


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="rule is 'size'"):
        grow_vocabulary(["a"], num_merges=1, rule="size")  # type: ignore[arg-type]
