"""What two tokenizers share of a text: tokens where they agree, else words."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from bertcore import Bert, Tokenizer
from bertcore.analysis.compare.shared_units import head_divergence, shared_units
from tests.support.nasty_text import NASTY
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary

TEXT, PAIR = "the rivers were steep, yes", "a dog runs"


@pytest.fixture(scope="module")
def other() -> Bert:
    """A checkpoint that cuts words into more pieces."""
    pieces = [p for p in tiny_vocabulary() if p not in ("river", "steep", "dog")]
    tokenizer = Tokenizer(pieces, do_lower_case=True, model_max_length=40)
    return Bert(tiny_network(tiny_config(vocab_size=len(pieces)), seed=3), tokenizer)


def test_equal_tokens_are_the_units() -> None:
    first, second = (tiny_bert(seed=seed).trace(TEXT, PAIR) for seed in (0, 1))
    units = shared_units(first, second)
    assert units.are_tokens
    assert [unit.name for unit in units.units] == first.tokens
    assert [unit.first for unit in units.units] == [(i,) for i in range(first.num_tokens)]
    assert torch.equal(units.merged_attention(first.attentions[0], 0), first.attentions[0])
    assert (head_divergence(first, first, units) == 0).all()
    with pytest.raises(ValueError, match="Run the same input"):
        shared_units(first, tiny_bert().trace(TEXT))


def test_other_pieces_become_words(other: Bert) -> None:
    first, second = tiny_bert().trace(TEXT, PAIR), other.trace(TEXT, PAIR)
    units = shared_units(first, second)
    assert not units.are_tokens
    assert [unit.name for unit in units.units] == (
        ["[CLS]", "the", "rivers", "were", "steep,", "yes", "[SEP]", "a", "dog", "runs", "[SEP]"]
    )
    rivers = units.units[2]
    assert [first.tokens[i] for i in rivers.first] == ["river", "##s"]
    assert "".join(second.tokens[i].removeprefix("##") for i in rivers.second) == "rivers"
    assert len(rivers.second) > 2
    hidden = second.hidden_states[1]
    merged = units.merged_vectors(second.hidden_states, 1)[1]
    torch.testing.assert_close(merged[2], hidden[list(rivers.second)].mean(0))
    by_hand = second.attentions[0, 1][list(rivers.second)].mean(0)
    sums = torch.stack([by_hand[list(unit.second)].sum() for unit in units.units])
    torch.testing.assert_close(units.merged_attention(second.attentions[0], 1)[1, 2], sums)


def test_divergence_is_scipys(other: Bert) -> None:
    for one, two in ((tiny_bert(seed=0), tiny_bert(seed=1)), (tiny_bert(), other)):
        first, second = one.trace(TEXT, PAIR), two.trace(TEXT, PAIR)
        units = shared_units(first, second)
        found = head_divergence(first, second, units)
        assert found.shape == (2, 4)
        for layer, head in np.ndindex(2, 4):
            rows = [
                units.merged_attention(trace.attentions[layer, head], side).double().numpy()
                for side, trace in enumerate((first, second))
            ]
            expected = jensenshannon(*rows, base=2, axis=-1) ** 2
            assert found[layer, head] == pytest.approx(expected.mean(), abs=2e-6)


def test_cut_words_are_left_out(other: Bert) -> None:
    text = "the dog runs " * 12
    first, second = tiny_bert().trace(text), other.trace(text)
    assert second.truncation is not None
    units = shared_units(first, second)
    sums = units.merged_attention(first.attentions[0], 0).sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


@pytest.mark.parametrize("text", NASTY)
def test_any_text_has_units_whose_rows_sum_to_one(other: Bert, text: str) -> None:
    first, second = tiny_bert().trace(text, text), other.trace(text, text)
    units = shared_units(first, second)
    assert len(units.units) >= 2
    for side, trace in enumerate((first, second)):
        merged = units.merged_attention(trace.attentions[1], side)
        torch.testing.assert_close(merged.sum(-1), torch.ones(merged.shape[:-1]))
        places = [unit[2 + side] for unit in units.units]
        flat = [place for group in places for place in group]
        assert len(set(flat)) == len(flat)
