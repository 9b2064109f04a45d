"""A text under each objective: rows of a real tokenizer, sentences, odd texts."""

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.analysis import count_objective, objective_example
from bertcore.analysis.objectives.demo import ObjectiveExample
from bertcore.analysis.objectives.given import prepare
from bertcore.model.objectives import OBJECTIVES
from tests.support.cases import cases
from tests.support.tiny import tiny_bert

A = "The film was very good."
B = "She sat on the mat in the old house. It had rained."
OTHERS = ("The man was old. The river was steep.",)


ONE_DOCUMENT = ("bart-sentences", "bart-rotation")


def example(
    bert: Bert, name: str, text: str = A, pair: str | None = B, **options: object
) -> ObjectiveExample:
    return objective_example(bert, name, text, pair, others=OTHERS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_what_goes_in_and_comes_out(bert: Bert, name: str) -> None:
    found = example(bert, name, seed=3)
    tokens = bert.tokenize(A, B).tokens
    if name in ONE_DOCUMENT:
        tokens.remove("[SEP]")  # the one between the texts
    assert found.original == tuple(tokens)
    assert len(found.decoder_reads) == len(found.writes)
    for looks in found.looks:
        assert looks.allowed.shape == (len(looks.rows), len(looks.columns))
    has_target = any(token.target for token in found.reads)
    assert has_target + bool(found.writes) + bool(found.verdict) == 1


def test_a_generator_that_answers_nan_guesses_nothing() -> None:
    broken = tiny_bert()
    with torch.no_grad():
        next(broken.module.parameters()).fill_(float("nan"))
    with pytest.raises(ValueError, match="the model returns NaN or infinity"):
        example(broken, "replaced-tokens")
    assert example(broken, "masked-words").reads  # needs no network


def test_words_and_sentences_begin_where_the_text_has_them(bert: Bert) -> None:
    text = "She  saw it.\nIt was unhappily old."
    row = prepare(bert, OBJECTIVES["bart-sentences"], text, "A man.").given.row
    tokens = bert.tokenize(text, "A man.").tokens
    assert row.starts_sentence is not None
    begins = [tokens[place] for place in np.flatnonzero(row.starts_sentence)]
    assert begins == ["she", "it", "a"]
    for place, token in enumerate(tokens):
        assert row.starts_word[place] == (not token.startswith("##"))


def test_a_decoder_may_not_look_ahead(bert: Bert) -> None:
    decoder, encoder = example(bert, "t5-spans").looks
    width = len(encoder.rows)
    assert decoder.allowed[:, :width].all()
    np.testing.assert_array_equal(decoder.allowed[:, width:], np.tri(len(decoder.rows), dtype=bool))
    assert encoder.allowed.all()


def test_mass_hides_its_masks_from_the_decoder(bert: Bert) -> None:
    found = example(bert, "mass", seed=1)
    is_mask = np.array([token.fate == "mask" for token in found.reads])
    decoder = found.looks[0]
    np.testing.assert_array_equal(decoder.allowed[0, : len(is_mask)], ~is_mask)


def test_deleted_tokens_leave_a_gap(bert: Bert) -> None:
    found = example(bert, "bart-deletion", seed=4)
    assert any(token.fate == "gap" for token in found.reads)
    # Reading the text beside what is left, tokens are passed over at gaps and nowhere else.
    rest, may_skip = iter(found.original), False
    for token in found.reads:
        if token.fate == "gap":
            may_skip = True
            continue
        passed = 0
        while next(rest) != token.text:
            passed += 1
        assert may_skip or not passed
        may_skip = False
    assert not list(rest)


def test_sentinels_are_added_where_a_vocabulary_has_none(bert: Bert) -> None:
    found = example(bert, "t5-spans")
    assert found.writes[0] == "<extra_id_0>"
    assert "single span" in found.notes[1]
    assert found.reads[-2].fate == "sentinel"
    assert "sentinels" in found.notes[0]


def test_xlnet_tells_the_order(bert: Bert) -> None:
    found = example(bert, "permutation", share=0.5)
    ranks = sorted(filter(None, found.order))
    assert ranks == list(range(1, len(ranks) + 1))
    assert [bool(rank) for rank in found.order] == [bool(token.target) for token in found.reads]


@pytest.mark.parametrize(("name", "text", "words"), cases("texts_that_do_not_do"))
def test_texts_that_do_not_do_are_a_sentence(bert: Bert, name: str, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        example(bert, name, text, None)
    with pytest.raises(ValueError, match="share"):
        example(bert, "masked-words", share=1.0)


def test_a_direction_without_a_prefix_needs_no_pair(bert: Bert) -> None:
    found = example(bert, "unilm", A, None, direction="left-to-right")
    assert found.direction == "left-to-right"
    cut = example(bert, "sentence-order", f"{A} {B}", None, seed=2)  # between its sentences
    assert [token.text for token in cut.reads].count("[SEP]") == 2
    size = len(found.reads)
    np.testing.assert_array_equal(found.looks[0].allowed, np.tri(size, dtype=bool))
    with pytest.raises(ValueError, match="pair"):
        example(bert, "unilm", A, None, direction="prefix")


def test_spans_longer_than_the_text_are_noted(bert: Bert) -> None:
    assert "5 words" in " ".join(example(bert, "spans", "the man was old.", None).notes)
    assert not example(bert, "spans").notes


def test_spans_are_told_from_both_their_ends(bert: Bert) -> None:
    found = example(bert, "spans", seed=5, share=0.4)
    reads, text = [token.text for token in found.reads], found.original
    hidden = [place for place, token in enumerate(found.reads) if token.target]
    assert [piece for ends in found.ends for piece in ends.span] == [text[i] for i in hidden]
    for ends in found.ends:
        size = len(ends.span)
        assert any(
            (reads[i], reads[i + size + 1], text[i + 1 : i + 1 + size])
            == (ends.left, ends.right, ends.span)
            for i in range(len(reads) - size - 1)
        )
    assert example(bert, "masked-words").ends == ()


@pytest.mark.parametrize("name", ONE_DOCUMENT)
def test_a_pair_is_one_document_to_bart(bert: Bert, name: str) -> None:
    found = example(bert, name, seed=3)
    assert found.original.count("[SEP]") == 1
    assert found.writes == found.original
    assert sorted(one.text for one in found.reads) == sorted(found.original)


def test_counts_are_of_this_text(bert: Bert) -> None:
    counts = count_objective(bert, "masked-words", A, B, num_draws=50)
    num_tokens = len(bert.tokenize(A, B))
    assert counts.rates[0].mean == round(0.15 * num_tokens) / num_tokens
    again = count_objective(bert, "masked-words", A, B, num_draws=50)
    assert again == counts
