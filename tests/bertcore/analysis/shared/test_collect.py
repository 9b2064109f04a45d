"""Vectors of many sentences: equal to each sentence's own trace, whole sentences, in bounds."""

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.shared.collect import collect_sentences, collect_tokens, whole_words
from bertcore.data.texts import Sentence
from tests.support.tiny import tiny_bert

SENTENCES = (
    Sentence("The river bank was steep.", None, "river"),
    Sentence("He went to the shop", "It had rained for one old day.", "shop"),
    Sentence("dogs", None, ""),
    Sentence("Money in the bank, and fishing in the river!", None, "both"),
    Sentence("", None, "nothing"),
)


@pytest.mark.parametrize("batch_tokens", [8, 40])
def test_vectors_equal_each_sentence_alone(
    bert: Bert, batch_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertcore.model.likelihood.TOKENS_PER_BATCH", batch_tokens)
    table = collect_tokens(bert, SENTENCES)
    assert table.notes == ()
    assert table.vectors.dtype == np.float32
    for index, (text, pair, label) in enumerate(SENTENCES):
        trace = bert.trace(text, pair)
        rows = np.flatnonzero(table.sentence_ids == index)
        np.testing.assert_allclose(table.vectors[:, rows], trace.hidden_states, atol=1e-5)
        assert [table.tokens[i] for i in rows] == trace.tokens
        assert [table.spans[i] for i in rows] == trace.offsets
        assert table.segment_ids[rows].tolist() == trace.segment_ids
        assert table.positions[rows].tolist() == trace.position_ids
        assert table.word_ids[rows].tolist() == trace.word_ids
        assert table.is_special[rows].tolist() == [i < 0 for i in trace.text_ids]
        assert {table.labels[i] for i in rows} == {label}


def test_words_join_their_pieces_as_written(bert: Bert) -> None:
    table = collect_tokens(bert, [Sentence("Fishing, fished!", "DOGS")])
    words = dict(zip(table.tokens, table.words, strict=True))
    assert words == {
        "[CLS]": "[CLS]", "[SEP]": "[SEP]", ",": ",", "!": "!",
        "fish": "fished", "##ing": "fishing", "##ed": "fished", "dog": "dogs", "##s": "dogs",
    }  # fmt: skip
    assert table.words[1:3] == ("fishing", "fishing")
    cased = collect_tokens(tiny_bert(cased=True), [Sentence("He was in Paris")])
    assert cased.words == ("[CLS]", "He", "was", "in", "Paris", "[SEP]")


def test_sentences_are_taken_whole_up_to_the_limit(bert: Bert) -> None:
    lengths = [len(bert.tokenize(text, pair)) for text, pair, _ in SENTENCES]
    full = collect_tokens(bert, SENTENCES)
    table = collect_tokens(bert, SENTENCES, max_tokens=sum(lengths[:2]) + 1)
    assert len(table) == sum(lengths[:2])
    np.testing.assert_allclose(table.vectors, full.vectors[:, : len(table)], atol=1e-5)
    assert "only the first 2 are shown" in table.notes[0]
    assert len(collect_tokens(bert, SENTENCES, max_tokens=sum(lengths))) == sum(lengths)
    with pytest.raises(ValueError, match=f"first sentence has {lengths[0]} tokens.*limit is 3"):
        collect_tokens(bert, SENTENCES, max_tokens=3)


def test_long_sentences_are_cut_and_it_is_said(bert: Bert) -> None:
    long = Sentence("the river " * 60)
    assert "the limit is 64" in collect_tokens(bert, [long]).notes[0]
    table = collect_tokens(bert, [long, SENTENCES[0]])
    assert table.notes == (
        "1 of 2 sentences have more than 64 tokens and were truncated at the end.",
    )
    assert (table.sentence_ids == 0).sum() == 64


@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
def test_sentence_vectors_are_those_of_encode(bert: Bert, pooling: str) -> None:
    single = [Sentence(text, None, label) for text, _, label in SENTENCES]
    table = collect_sentences(bert, single, pooling=pooling)
    assert table.labels == tuple(sentence.label for sentence in single)
    for layer in range(bert.config.num_hidden_layers + 1):
        expected = bert.encode([s.text for s in single], layer=layer, pooling=pooling)
        np.testing.assert_allclose(table.vectors[layer], expected, atol=1e-5)


def test_wrong_calls(bert: Bert) -> None:
    for function in (collect_tokens, collect_sentences):
        with pytest.raises(ValueError, match="no sentence"):
            function(bert, [])
    with pytest.raises(ValueError, match="'sum'; expected one of mean, cls, max"):
        collect_sentences(bert, SENTENCES, pooling="sum")


def test_whole_words_are_the_mean_of_their_pieces(bert: Bert) -> None:
    table = collect_tokens(bert, [Sentence("Dogs fishing", "fished dog"), Sentence("he")])
    words = whole_words(table)
    assert words.tokens == (
        *("[CLS]", "dogs", "fishing", "[SEP]", "fished", "dog", "[SEP]"),
        *("[CLS]", "he", "[SEP]"),
    )
    assert words.spans[1:3] == ((0, 4), (5, 12))
    assert words.segment_ids.tolist() == [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    assert words.sentence_ids.tolist() == [0] * 7 + [1] * 3
    np.testing.assert_allclose(words.vectors[:, 1], table.vectors[:, 1:3].mean(1), atol=1e-6)
    np.testing.assert_allclose(words.vectors[:, -2:], table.vectors[:, -2:])
    assert whole_words(words) is words


def test_stretches_of_the_texts_cover_their_tokens(bert: Bert) -> None:
    table = whole_words(collect_tokens(bert, SENTENCES))
    text = SENTENCES[3].text
    bank = text.index("bank")
    keep = table.covered_by([(3, bank, bank + 4), (0, 0, 3), (1, 500, 600), (9, 0, 4)])
    kept = table.select(keep)
    assert kept.words == ("the", "bank")
    assert kept.sentence_ids.tolist() == [0, 3]
    assert not table.covered_by([]).any()
    first = table.covered_by([(1, 0, 2)])  # of text A, whatever B has there
    assert table.select(first).words == ("he",)
