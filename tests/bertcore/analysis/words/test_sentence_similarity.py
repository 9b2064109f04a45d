"""Cosines of sentence vectors, and their split over the words of both."""

from pathlib import Path

import numpy as np
import pytest
import torch.nn.functional as F
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import Normalize

from bertcore import Bert, load
from bertcore.analysis import shared_words, similarities
from bertcore.model.sentences import POOLINGS, SentenceModules
from tests.support.sentence_encoders import make_sentence_encoder
from tests.support.tiny import tiny_bert

TEXTS = ["The river bank was steep.", "It had rained all day, unbelievably!", "", "Cats " * 80]


@pytest.mark.parity
def test_cosines_are_those_of_sentence_transformers(tmp_path: Path) -> None:
    reference = make_sentence_encoder(tmp_path / "model", after=(Dense(32, 8),), max_length=20)
    expected = reference.similarity(reference.encode(TEXTS), reference.encode(TEXTS)).numpy()
    ours = similarities(load(tmp_path / "model", device="cpu"), TEXTS).values
    np.testing.assert_allclose(ours, expected, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("prompt", ["", "the day "])
def test_contributions_sum_to_the_cosine(pooling: str, prompt: str) -> None:
    bert = tiny_bert()
    modules = SentenceModules(poolings=(pooling,), max_length=30, prompt=prompt)
    bert = Bert(bert.module, bert.tokenizer, sentence_modules=modules)
    vectors = F.normalize(bert.encode(TEXTS), dim=-1)
    for a, b in ((0, 1), (1, 0), (1, 2), (3, 1), (0, 0)):
        words = shared_words(bert, TEXTS[a], TEXTS[b])
        expected = float(vectors[a] @ vectors[b])
        assert words.cosine == pytest.approx(expected, abs=1e-5)
        assert words.of_a.sum() == pytest.approx(expected, abs=1e-5)
        assert words.of_b.sum() == pytest.approx(expected, abs=1e-5)
        assert words.pairs.shape == (len(words.words_a), len(words.words_b))


def test_pieces_are_joined_to_words_and_a_part_is_worked_out_by_hand() -> None:
    bert = tiny_bert()
    words = shared_words(bert, TEXTS[0], TEXTS[1])
    assert words.words_a == ("[CLS]", "The", "river", "bank", "was", "steep", ".", "[SEP]")
    assert words.words_b[-3:] == ("unbelievably", "!", "[SEP]")
    first, second = (bert.hidden(bert.tokenize(text)) for text in TEXTS[:2])
    means = [states.mean(0) for states in (first, second)]
    pieces = len(bert.tokenize(TEXTS[1])) - 2 - 7  # of "unbelievably"
    word = second[7 : 7 + pieces].sum(0)
    expected = first[3] @ word / len(first) / len(second) / means[0].norm() / means[1].norm()
    assert words.pairs[3, 7] == pytest.approx(float(expected), abs=1e-6)


def test_a_normalised_encoder_splits_and_one_with_a_dense_layer_says_why_not(
    tmp_path: Path,
) -> None:
    make_sentence_encoder(tmp_path / "unit", after=(Normalize(),))
    bert = load(tmp_path / "unit", device="cpu")
    expected = float(similarities(bert, TEXTS).values[0, 1])
    assert shared_words(bert, *TEXTS[:2]).cosine == pytest.approx(expected, abs=1e-5)
    for modules in (SentenceModules(poolings=("mean", "cls")), SentenceModules(unread="not known")):
        other = Bert(tiny_bert().module, bert.tokenizer, sentence_modules=modules)
        with pytest.raises(ValueError, match=r"not a sum over the tokens|not known"):
            shared_words(other, *TEXTS[:2])
    make_sentence_encoder(tmp_path / "dense", after=(Dense(32, 8),))
    with pytest.raises(ValueError, match="a dense layer to 8 numbers"):
        shared_words(load(tmp_path / "dense", device="cpu"), *TEXTS[:2])
