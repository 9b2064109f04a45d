"""What a vocabulary's size costs and brings, against counting by hand."""

import pytest

from bertcore.analysis.words.vocabulary import measure_sizes, token_table_share
from bertcore.model.architecture.config import bert_base, bert_mini
from bertcore.model.network import Network
from bertcore.model.tokenizer import SPECIAL_TOKENS, Tokenizer, train_vocabulary
from bertcore.model.tokenizer.wordpiece import match_pieces
from tests.support.nasty_text import LETTERS, PARAGRAPH

HELD_OUT = "the bank of the river was steep and the thing 龍 was old"


def test_pieces_and_unknown_words_are_those_of_the_slow_wordpiece() -> None:
    stages: list[float] = []
    sizes = (260, 300)
    found = measure_sizes(
        sizes, [PARAGRAPH, LETTERS], [HELD_OUT], progress=lambda part, what: stages.append(part)
    )
    assert stages == [0, 0.5]
    words = HELD_OUT.split()
    for size, one in zip(sizes, found, strict=True):
        tokenizer = Tokenizer(train_vocabulary([PARAGRAPH, LETTERS], vocab_size=size))
        cuts = [match_pieces(word, tokenizer) for word in words]
        assert one.vocab_size == size
        assert one.pieces_per_word == pytest.approx(
            sum(len(pieces) for pieces, _ in cuts) / len(words)
        )
        assert one.unknown == pytest.approx(
            sum(reason is not None for _, reason in cuts) / len(words)
        )
    assert found[1].pieces_per_word < found[0].pieces_per_word


def test_whole_words_are_the_most_frequent_ones() -> None:
    text = "bb bb bb aa aa cc " * 2
    (one,) = measure_sizes([len(SPECIAL_TOKENS) + 6], [text], ["bb aa cc dd"])
    assert one.unknown_whole == pytest.approx(0.25)  # three words have room, dd is not among them
    assert one.unknown == pytest.approx(0.25)  # no letter of dd is known


def test_the_share_is_that_of_a_network() -> None:
    shape = bert_mini(vocab_size=500)
    network = Network(shape)
    table = next(p for name, p in network.named_parameters() if p.shape == (500, 256))
    total = sum(p.numel() for p in network.parameters())
    assert token_table_share(bert_mini(), 500) == pytest.approx(table.numel() / total)
    assert token_table_share(bert_base(), 30522) == pytest.approx(30522 * 768 / 110_106_428)
