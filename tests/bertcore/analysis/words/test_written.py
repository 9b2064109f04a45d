"""What was written, in numbers: counted by hand, scored as by each model's own measure."""

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis.words.continuation import score_written
from bertcore.analysis.words.next_words import next_surprise
from bertcore.analysis.words.surprise import surprise
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

TEXT, WRITTEN = "The old man sat", "on the mat . the old man sat ."


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture(scope="module")
def twin() -> Bert:
    return tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))


def test_repeated_pairs_by_hand(bert: Bert) -> None:
    found = score_written(bert, None, TEXT, WRITTEN)
    assert (found.num_tokens, found.num_different) == (9, 7)
    # Nine pairs end in what was written: "the old", "old man", "man sat" stand before.
    assert (found.num_pairs, found.num_repeated) == (9, 3)
    assert found.perplexity is None
    stutter = score_written(bert, None, TEXT, ". . . .")
    assert (stutter.num_tokens, stutter.num_different, stutter.num_repeated) == (4, 1, 2)


def test_perplexities_are_those_of_the_written_tokens(bert: Bert, twin: Bert) -> None:
    found = score_written(bert, twin, TEXT, WRITTEN)
    joined, num_before = f"{TEXT} {WRITTEN}", 5  # [CLS] and four words
    hidden, left = surprise(bert, joined), next_surprise(twin, joined)
    own = [b for place, b in zip(hidden.positions, hidden.bits, strict=True) if place >= num_before]
    assert len(own) == 9
    assert found.pseudo_perplexity == pytest.approx(2 ** float(np.mean(own)), rel=1e-4)
    own = [
        b
        for place, b in zip(left.positions, left.bits, strict=True)
        if num_before <= place < num_before + 9
    ]
    assert len(own) == 9
    assert found.perplexity == pytest.approx(2 ** float(np.mean(own)), rel=1e-4)


def test_text_before_is_not_counted(bert: Bert) -> None:
    short, long = score_written(bert, None, "It", "rained"), score_written(bert, None, TEXT, "it")
    assert short.num_tokens == long.num_tokens == 1
    assert short.num_pairs == long.num_pairs == 1


def test_bad_input_is_a_sentence(bert: Bert, twin: Bert) -> None:
    with pytest.raises(ValueError, match="has nothing to score"):
        score_written(bert, twin, TEXT, "")
    with pytest.raises(ValueError, match="too long"):
        score_written(bert, twin, TEXT, "mat " * 80)
    with pytest.raises(ValueError, match="mask"):
        score_written(twin, twin, TEXT, WRITTEN)
    with pytest.raises(ValueError, match="masked-word"):
        score_written(tiny_bert(heads=ALL_HEADS - {"mlm"}), None, TEXT, WRITTEN)
    with pytest.raises(ValueError, match="next"):
        score_written(bert, bert, TEXT, WRITTEN)
