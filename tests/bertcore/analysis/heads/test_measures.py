"""Head measures against values worked by hand."""

import math

import pytest
import torch

from bertcore.analysis.heads.measures import (
    MEASURES,
    HeadMeasures,
    TokenKinds,
    make_patterns,
    measure_batch,
    measure_heads,
    uniform_measures,
)

# [CLS] a a [SEP] a [SEP]
PAIR = [-1, 0, 0, -1, 1, -1]
TOKENS = ["[CLS]", "a", "a", "[SEP]", "a", "[SEP]"]


def heads(*maps: torch.Tensor) -> torch.Tensor:
    """Put maps [T, T] into one layer, [1, H, T, T]."""
    return torch.stack(maps)[None]


def looks(offset: int, num_tokens: int = 6) -> torch.Tensor:
    """A head in which every token looks at the one `offset` away (wrapping around)."""
    return torch.eye(num_tokens).roll(offset, 1)


def test_a_head_that_always_looks_back_has_share_one() -> None:
    measures = measure_heads(heads(looks(-1), looks(1), looks(0)), PAIR, TOKENS)
    assert measures.to_previous[0].tolist() == [1, 0, 0]
    assert measures.to_next[0].tolist() == [0, 1, 0]
    assert measures.to_self[0].tolist() == [0, 0, 1]
    # The wrapping row is 5 tokens away, the five others 1: (5 + 5) / 6.
    assert measures.distance[0].tolist() == pytest.approx([10 / 6, 10 / 6, 0])
    assert measures.entropy[0].tolist() == [0, 0, 0]


def test_uniform_attention() -> None:
    measures = measure_heads(heads(torch.full((6, 6), 1 / 6)), PAIR, TOKENS)
    assert measures.entropy.item() == pytest.approx(math.log(6))
    assert measures.to_first.item() == pytest.approx(1 / 6)
    assert measures.to_separator.item() == pytest.approx(2 / 6)
    assert measures.a_to_b.item() == pytest.approx(1 / 6)
    assert measures.b_to_a.item() == pytest.approx(2 / 6)
    # sum over i, j of |i - j| for 6 tokens is 70; over 36 cells.
    assert measures.distance.item() == pytest.approx(70 / 36)


def test_mass_between_the_texts_counts_text_tokens_only() -> None:
    weights = torch.zeros(6, 6)
    weights[:, 0] = 1  # all look at [CLS] ...
    weights[1] = torch.tensor([0.0, 0.0, 0.0, 0.25, 0.5, 0.25])  # ... but one A token at B
    measures = measure_heads(heads(weights), PAIR, TOKENS)
    assert measures.a_to_b.item() == pytest.approx(0.25)  # (0.5 + 0) / 2 tokens of A
    assert measures.b_to_a.item() == 0
    assert measures.to_first.item() == pytest.approx(5 / 6)
    assert measures.to_separator.item() == pytest.approx(0.5 / 6)


def test_what_does_not_exist_is_nan() -> None:
    single = measure_heads(heads(looks(0, 3)), [-1, 0, -1], ["[CLS]", "a", "[SEP]"])
    assert math.isnan(single.a_to_b.item())
    assert math.isnan(single.b_to_a.item())
    alone = measure_heads(heads(looks(0, 1)), [0], ["a"])
    assert math.isnan(alone.to_previous.item())
    assert math.isnan(alone.to_first.item())
    assert alone.to_self.item() == 1


def test_of_averages_the_chosen_heads() -> None:
    attentions = heads(looks(-1), looks(1), looks(-1)).to(torch.bfloat16)
    measures = measure_heads(attentions, PAIR, TOKENS)
    assert measures.to_previous.dtype == torch.float32
    assert measures.of(0, [0, 1])["to_previous"] == pytest.approx(0.5)
    assert measures.of(0, [])["to_previous"] == pytest.approx(2 / 3)
    assert set(measures.of(0, [0])) == set(HeadMeasures.__slots__)


def test_the_clearest_habit_is_one_of_place() -> None:
    some = heads(looks(0) / 2 + looks(1) / 2, looks(-1), looks(-1))
    assert measure_heads(some, PAIR, TOKENS).clearest == (0, 1)
    nothing = measure_heads(torch.full_like(some, torch.nan), PAIR, TOKENS)
    assert nothing.clearest == (0, 0)


def test_same_word_counts_other_places_of_the_piece_in_both_texts() -> None:
    # the cat . the dog . the fish
    text_ids = [-1, 0, 0, 0, 0, -1, 1, 1, -1]
    tokens = ["[CLS]", "the", "cat", "the", ".", "[SEP]", "the", "fish", "[SEP]"]
    weights = torch.zeros(9, 9)
    weights[:, 4] = 1  # all look at the full stop ...
    weights[1] = torch.tensor([0, 0.2, 0.1, 0.3, 0, 0, 0.4, 0, 0])  # ... but the first "the"
    weights[3] = torch.tensor([0, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
    measures = measure_heads(heads(weights), text_ids, tokens)
    # Rows 1, 3 and 6 have another "the": (0.3 + 0.4, 0.5, 0) / 3; [SEP] and itself do not count.
    assert measures.to_same_word.item() == pytest.approx(1.2 / 3)
    assert measures.to_punctuation.item() == pytest.approx(7 / 9)
    alone = measure_heads(heads(looks(0, 3)), [-1, 0, -1], ["[SEP]", "a", "[SEP]"])
    assert math.isnan(alone.to_same_word.item())
    assert math.isnan(alone.to_punctuation.item())


def test_entropy_of_one_row_and_evenness() -> None:
    weights = torch.eye(6)
    weights[0] = torch.tensor([0.5, 0.5, 0, 0, 0, 0])
    measures = measure_heads(heads(weights, torch.full((6, 6), 1 / 6)), PAIR, TOKENS)
    assert measures.entropy_first[0].tolist() == pytest.approx([math.log(2), math.log(6)])
    assert measures.evenness[0].tolist() == pytest.approx([math.log(2) / 6 / math.log(6), 1])
    assert math.isnan(measure_heads(heads(looks(0, 1)), [-1], ["[CLS]"]).evenness.item())


def test_a_padded_batch_is_measured_as_each_input_alone(generator: torch.Generator) -> None:
    inputs = [
        TokenKinds([-1, 0, 0, -1, 1, -1], ["[CLS]", "a", "!", "[SEP]", "a", "[SEP]"]),
        TokenKinds([-1, 0, -1], ["[CLS]", "b", "[SEP]"]),
        TokenKinds([-1, 0, 0, 0, -1], ["[CLS]", "b", "b", ",", "[SEP]"]),
    ]
    padded = torch.rand(2, 3, 4, 6, 6, generator=generator)
    expected = []
    for row, (text_ids, tokens) in enumerate(inputs):
        length = len(tokens)
        padded[:, row, :, :, length:] = 0
        padded[:, row] /= padded[:, row].sum(-1, keepdim=True)
        alone = measure_heads(padded[:, row, :, :length, :length], text_ids, tokens)
        expected.append(torch.stack([getattr(alone, name) for name in MEASURES], dim=-1))
    found = measure_batch(padded, make_patterns(inputs))
    torch.testing.assert_close(found, torch.stack(expected), equal_nan=True)


def test_uniform_attention_is_what_the_baseline_says() -> None:
    patterns = make_patterns([TokenKinds(PAIR, TOKENS), TokenKinds([-1, 0, -1], list("[a]"))])
    for row, length in enumerate((6, 3)):
        kinds = [(PAIR, TOKENS), ([-1, 0, -1], list("[a]"))][row]
        alone = measure_heads(heads(torch.full((length, length), 1 / length)), *kinds)
        expected = torch.stack([getattr(alone, name)[0, 0] for name in MEASURES])
        torch.testing.assert_close(uniform_measures(patterns)[row], expected, equal_nan=True)


def causal_even(num_tokens: int) -> torch.Tensor:
    """A head that attends alike to a token and all before it."""
    return torch.ones(num_tokens, num_tokens).tril() / torch.arange(1, num_tokens + 1)[:, None]


def test_uniform_attention_of_a_causal_network() -> None:
    tokens = ["[CLS]", *"abcdefghij", "[SEP]"]
    text_ids = [-1, *[0] * 10, -1]
    measures = measure_heads(heads(causal_even(12)), text_ids, tokens, is_causal=True)
    harmonic = sum(1 / place for place in range(1, 13)) / 12
    assert measures.to_first.item() == pytest.approx(harmonic)
    assert measures.to_self.item() == pytest.approx(harmonic)
    assert measures.to_next.item() == 0
    assert measures.to_previous.item() == pytest.approx(sum(1 / n for n in range(2, 13)) / 11)
    assert measures.evenness.item() == pytest.approx(1)
    assert measures.entropy.item() == pytest.approx(math.lgamma(13) / 12)
    inputs = [TokenKinds(text_ids, tokens), TokenKinds(PAIR, TOKENS), TokenKinds([0], ["a"])]
    baseline = uniform_measures(make_patterns(inputs, is_causal=True))
    for row, kinds in enumerate(inputs):
        own = measure_heads(heads(causal_even(len(kinds.tokens))), *kinds, is_causal=True)
        expected = torch.stack([getattr(own, name)[0, 0] for name in MEASURES])
        torch.testing.assert_close(baseline[row], expected, equal_nan=True)


def test_evenness_of_a_causal_head_leaves_out_the_row_without_a_choice() -> None:
    weights = torch.tensor([[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]])
    measures = measure_heads(heads(weights), [0, 0, 0], list("abc"), is_causal=True)
    assert measures.evenness.item() == pytest.approx((1 + 0) / 2)
