"""Two versions of a text against hand-worked cases, the public API and each other's mirror."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cosine, jensenshannon

from bertcore import Bert, Trace
from bertcore.analysis import aligned_attention, aligned_likelihoods, compare_pair
from bertcore.analysis.compare.minimal_pair import Column, align
from bertcore.model.network import ALL_HEADS
from bertcore.training.grammar import MinimalPair, score_pairs
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

FIRST, SECOND = "the cat [MASK] on the mat", "the dogs [MASK] not on the mat ."
B = "it had rained"


def pair(bert: Bert) -> tuple[Trace, Trace]:
    return bert.trace(FIRST, B), bert.trace(SECOND, B)


def aligned(bert: Bert, first: str, second: str) -> str:
    """Return the alignment as words: "=" equal, "a>b" replaced, "-a" deleted, "+b" inserted."""
    one, other = bert.trace(first), bert.trace(second)
    words = []
    for i, j in align(one, other):
        if i is None:
            assert j is not None
            words.append(f"+{other.tokens[j]}")
        elif j is None:
            words.append(f"-{one.tokens[i]}")
        else:
            same = one.tokens[i] == other.tokens[j]
            words.append("=" if same else f"{one.tokens[i]}>{other.tokens[j]}")
    return " ".join(words)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("the cat sat", "the dog sat", "= = cat>dog = ="),
        ("the film was good", "the film was not good", "= = = = +not = ="),
        ("he did not sat", "he sat", "= = -d -##i -##d -not = ="),
        ("the old man sat", "a woman sat", "= the>a old>woman -man = ="),
        ("", "the cat", "= +the +cat ="),
    ],
)
def test_alignments_worked_by_hand(bert: Bert, first: str, second: str, expected: str) -> None:
    assert aligned(bert, first, second) == expected


WORDS = st.lists(st.sampled_from(["the", "cat", "sat", "[MASK]", "[SEP]", "."]), max_size=8)


@settings(deadline=None, max_examples=60)
@given(WORDS, WORDS, WORDS, WORDS)
def test_an_alignment_holds_every_token_once_in_order_and_turns_round(
    one: list[str], two: list[str], three: list[str], four: list[str]
) -> None:
    bert = tiny_bert()
    first, second = (bert.trace(" ".join(a), " ".join(b)) for a, b in ((one, two), (three, four)))
    columns = align(first, second)
    assert [i for i, _ in columns if i is not None] == list(range(first.num_tokens))
    assert [j for _, j in columns if j is not None] == list(range(second.num_tokens))
    assert align(second, first) == tuple(Column(j, i) for i, j in columns)
    for i, j in columns:  # the texts of a pair, and [CLS] and [SEP], stay apart
        if i is not None and j is not None:
            assert first.text_ids[i] == second.text_ids[j]
        else:
            text = first.text_ids[i] if i is not None else second.text_ids[j or 0]
            assert text >= 0


def test_identical_texts_give_zeros_everywhere(bert: Bert) -> None:
    found = compare_pair(bert, FIRST, FIRST, (B, B))
    assert not any(found.alignment.changed)
    assert (found.hidden_change == 0).all()
    assert (found.attention_change == 0).all()
    assert found.next_first == found.next_second
    for shift in found.shifts:
        assert (shift.before == shift.after).all()
        assert shift.divergence == 0
    attention = aligned_attention(bert, FIRST, FIRST, (B, B), 1)
    assert (attention.second - attention.first == 0).all()
    each = [aligned_attention(bert, FIRST, FIRST, (B, B), 1, head).second for head in range(4)]
    np.testing.assert_allclose(attention.second, np.mean(each, 0), atol=1e-6)


def test_swapping_the_versions_negates_the_difference(bert: Bert) -> None:
    there = compare_pair(bert, FIRST, SECOND, (B, B))
    back = compare_pair(bert, SECOND, FIRST, (B, B))
    assert back.alignment.columns == tuple(Column(j, i) for i, j in there.alignment.columns)
    assert back.alignment.changed == there.alignment.changed
    for head in (None, 0, 3):
        one = aligned_attention(bert, FIRST, SECOND, (B, B), 1, head)
        other = aligned_attention(bert, SECOND, FIRST, (B, B), 1, head)
        np.testing.assert_array_equal(other.second - other.first, -(one.second - one.first))
    np.testing.assert_array_equal(there.hidden_change, back.hidden_change)
    np.testing.assert_allclose(there.attention_change, back.attention_change, atol=1e-7)
    assert (there.next_first, there.next_second) == (back.next_second, back.next_first)
    for here, mirrored in zip(there.shifts, back.shifts, strict=True):
        shown = dict(zip(mirrored.words, mirrored.before, strict=True))
        assert shown == dict(zip(here.words, here.after, strict=True))


def test_words_and_next_sentence_are_those_of_the_public_api(bert: Bert) -> None:
    found = compare_pair(bert, FIRST, SECOND, (B, B), top_k=3)
    (shift,) = found.shifts
    assert shift.position == 3
    before = dict(bert.fill_mask(FIRST, B, top_k=200)[0])
    after = dict(bert.fill_mask(SECOND, B, top_k=200)[0])
    assert shift.words[:3] == tuple(list(before)[:3])
    assert set(shift.words) == {*list(before)[:3], *list(after)[:3]}
    for word, p, q in zip(shift.words, shift.before, shift.after, strict=True):
        assert p == pytest.approx(before[word], abs=1e-6)
        assert q == pytest.approx(after[word], abs=1e-6)
    assert found.next_first.is_next == pytest.approx(bert.next_sentence(FIRST, B).is_next, abs=1e-6)
    wanted = bert.next_sentence(SECOND, B).is_next
    assert found.next_second.is_next == pytest.approx(wanted, abs=1e-6)


def test_vectors_and_attention_of_aligned_tokens(bert: Bert) -> None:
    first, second = pair(bert)
    found = compare_pair(bert, FIRST, SECOND, (B, B))
    columns = found.alignment.columns
    assert columns[2:6] == (Column(2, 2), Column(None, 3), Column(3, 4), Column(None, 5))
    assert found.alignment.changed[:6] == (False, False, True, True, False, True)
    for n, (i, j) in enumerate(columns):
        if i is None or j is None:
            assert np.isnan(found.hidden_change[:, n]).all()
            continue
        for layer in range(3):
            expected = cosine(first.hidden_states[layer, i], second.hidden_states[layer, j])
            assert found.hidden_change[layer, n] == pytest.approx(expected, abs=1e-5)
    both = [n for n, (i, j) in enumerate(columns) if i is not None and j is not None]
    for layer in range(2):
        for head in range(4):
            attention = aligned_attention(bert, FIRST, SECOND, (B, B), layer, head)
            one, other = attention.first, attention.second
            for n, (i, j) in enumerate(columns):
                for m, (k, l) in enumerate(columns):  # noqa: E741
                    if i is not None and k is not None:
                        assert float(one[n, m]) == float(first.attentions[layer, head, i, k])
                    else:
                        assert np.isnan(one[n, m])
                    if j is not None and l is not None:
                        assert float(other[n, m]) == float(second.attentions[layer, head, j, l])
            rows = np.nan_to_num(one[both]), np.nan_to_num(other[both])
            expected = np.mean(jensenshannon(*rows, base=2, axis=-1) ** 2)
            assert found.attention_change[layer, head] == pytest.approx(expected, abs=1e-5)


def test_single_texts_and_a_checkpoint_without_heads(bert: Bert) -> None:
    found = compare_pair(bert, FIRST, SECOND)
    assert found.next_first is found.next_second is None
    assert len(found.shifts) == 1
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    found = compare_pair(bare, FIRST, SECOND, (B, B))
    assert found.shifts == ()
    assert found.next_first is found.next_second is None
    assert np.nanmax(found.hidden_change) > 0


def test_a_mask_of_one_is_not_read_and_damaged_weights_cannot_be_compared(bert: Bert) -> None:
    assert compare_pair(bert, "the [MASK] sat", "the cat sat").shifts == ()
    broken = tiny_bert()
    with torch.no_grad():
        next(broken.module.parameters())[:] = torch.nan
    with pytest.raises(ValueError, match="contain NaN or infinity"):
        compare_pair(broken, "the", "cat")


@pytest.mark.parametrize("is_causal", [False, True])
def test_likelihoods_sum_to_the_exams_scores(bert: Bert, *, is_causal: bool) -> None:
    if is_causal:
        config = tiny_config(is_decoder=True)
        bert = Bert(tiny_network(config, heads=frozenset({"mlm"})), tiny_tokenizer())
    texts, fractions = ("the dogs had rained", "the dog had not rained"), list[float]()
    both = aligned_likelihoods(bert, *texts, on_fraction=fractions.append)
    (score,) = next(score_pairs(bert, [MinimalPair(*texts, (), 1)]))
    assert both.sums == pytest.approx((score.good, score.bad), abs=1e-5)
    assert both.reads_from_left == is_causal
    for scores, text in zip((both.first, both.second), texts, strict=True):
        assert np.isfinite(scores).sum() == bert.trace(text).num_tokens - 2  # not [CLS] and [SEP]
    assert is_causal or fractions[-1] == 1
