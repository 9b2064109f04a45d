"""Two versions of a text against hand-worked cases, the public API and each other's mirror."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cosine, jensenshannon

from bertcore import Bert, Trace
from bertcore.analysis.compare.minimal_pair import Column, align, aligned_attention, compare_pair
from bertcore.network import ALL_HEADS
from tests.support.tiny import tiny_bert

FIRST, SECOND = "the cat [MASK] on the mat", "the dogs [MASK] not on the mat ."
B = "it had rained"


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def pair(bert: Bert, first: str = FIRST, second: str = SECOND) -> tuple[Trace, Trace]:
    return bert.trace(first, B), bert.trace(second, B)


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
        ("the cat sat", "the cat sat", "= = = = ="),
        ("the cat sat", "the dog sat", "= = cat>dog = ="),
        ("the cat sat", "the cats sat", "= = = +##s = ="),
        ("the film was good", "the film was not good", "= = = = +not = ="),
        ("was not good", "was good", "= = -not = ="),
        ("he did not sat", "he sat", "= = -d -##i -##d -not = ="),
        ("the old man sat", "a woman sat", "= the>a old>woman -man = ="),
        ("", "the cat", "= +the +cat ="),
        ("the", "", "= -the ="),
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
    bert = _shared()
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


_BERTS: list[Bert] = []


def _shared() -> Bert:
    if not _BERTS:
        _BERTS.append(tiny_bert())
    return _BERTS[0]


def test_identical_texts_give_zeros_everywhere(bert: Bert) -> None:
    first, second = pair(bert, FIRST, FIRST)
    found = compare_pair(bert, first, second)
    assert not any(found.changed)
    assert (found.hidden_change == 0).all()
    assert (found.attention_change == 0).all()
    assert found.next_first == found.next_second
    for shift in found.shifts:
        assert (shift.before == shift.after).all()
        assert shift.divergence == 0
    one, other = aligned_attention(first, second, found.columns, 1)
    assert bool((other - one == 0).all())


def test_swapping_the_versions_negates_the_difference(bert: Bert) -> None:
    first, second = pair(bert)
    there, back = compare_pair(bert, first, second), compare_pair(bert, second, first)
    assert back.columns == tuple(Column(j, i) for i, j in there.columns)
    assert back.changed == there.changed
    for head in (None, 0, 3):
        one, other = aligned_attention(first, second, there.columns, 1, head)
        two, three = aligned_attention(second, first, back.columns, 1, head)
        torch.testing.assert_close(three - two, -(other - one), rtol=0, atol=0, equal_nan=True)
    np.testing.assert_array_equal(there.hidden_change, back.hidden_change)
    np.testing.assert_allclose(there.attention_change, back.attention_change, atol=1e-7)
    assert (there.next_first, there.next_second) == (back.next_second, back.next_first)
    for here, mirrored in zip(there.shifts, back.shifts, strict=True):
        shown = dict(zip(mirrored.words, mirrored.before, strict=True))
        assert shown == dict(zip(here.words, here.after, strict=True))


def test_words_and_next_sentence_are_those_of_the_public_api(bert: Bert) -> None:
    first, second = pair(bert)
    found = compare_pair(bert, first, second, top_k=3)
    (shift,) = found.shifts
    assert shift.position == 3
    before = dict(bert.fill_mask(FIRST, B, top_k=200)[0])
    after = dict(bert.fill_mask(SECOND, B, top_k=200)[0])
    assert shift.words[:3] == tuple(list(before)[:3])
    assert set(shift.words) == {*list(before)[:3], *list(after)[:3]}
    for word, p, q in zip(shift.words, shift.before, shift.after, strict=True):
        assert p == pytest.approx(before[word], abs=1e-6)
        assert q == pytest.approx(after[word], abs=1e-6)
    assert found.next_first is not None
    assert found.next_second is not None
    assert found.next_first.is_next == pytest.approx(bert.next_sentence(FIRST, B).is_next, abs=1e-6)
    wanted = bert.next_sentence(SECOND, B).is_next
    assert found.next_second.is_next == pytest.approx(wanted, abs=1e-6)


def test_vectors_and_attention_of_aligned_tokens(bert: Bert) -> None:
    first, second = pair(bert)
    found = compare_pair(bert, first, second)
    assert found.columns[2:6] == (Column(2, 2), Column(None, 3), Column(3, 4), Column(None, 5))
    assert found.changed[:6] == (False, False, True, True, False, True)
    for n, (i, j) in enumerate(found.columns):
        if i is None or j is None:
            assert np.isnan(found.hidden_change[:, n]).all()
            continue
        for layer in range(3):
            expected = cosine(first.hidden_states[layer, i], second.hidden_states[layer, j])
            assert found.hidden_change[layer, n] == pytest.approx(expected, abs=1e-5)
    both = [n for n, (i, j) in enumerate(found.columns) if i is not None and j is not None]
    for layer in range(2):
        for head in range(4):
            one, other = aligned_attention(first, second, found.columns, layer, head)
            for n, (i, j) in enumerate(found.columns):
                for m, (k, l) in enumerate(found.columns):  # noqa: E741
                    if i is not None and k is not None:
                        assert float(one[n, m]) == float(first.attentions[layer, head, i, k])
                    else:
                        assert bool(one[n, m].isnan())
                    if j is not None and l is not None:
                        assert float(other[n, m]) == float(second.attentions[layer, head, j, l])
            rows = one[both].nan_to_num(0), other[both].nan_to_num(0)
            expected = np.mean(jensenshannon(*(r.numpy() for r in rows), base=2, axis=-1) ** 2)
            assert found.attention_change[layer, head] == pytest.approx(expected, abs=1e-5)


def test_the_mean_of_a_layer_is_that_of_its_heads(bert: Bert) -> None:
    first, second = pair(bert)
    columns = align(first, second)
    heads = torch.stack([aligned_attention(first, second, columns, 0, h)[1] for h in range(4)])
    mean = aligned_attention(first, second, columns, 0)[1]
    torch.testing.assert_close(mean, heads.mean(0), equal_nan=True)


def test_single_texts_and_a_checkpoint_without_heads(bert: Bert) -> None:
    found = compare_pair(bert, bert.trace(FIRST), bert.trace(SECOND))
    assert found.next_first is found.next_second is None
    assert len(found.shifts) == 1
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    found = compare_pair(bare, bare.trace(FIRST, B), bare.trace(SECOND, B))
    assert found.shifts == ()
    assert found.next_first is found.next_second is None
    assert np.nanmax(found.hidden_change) > 0


def test_a_mask_that_only_one_has_is_not_read(bert: Bert) -> None:
    found = compare_pair(bert, bert.trace("the [MASK] sat"), bert.trace("the cat sat"))
    assert found.shifts == ()


def test_what_cannot_be_compared_is_refused(bert: Bert) -> None:
    single, both = bert.trace("the"), bert.trace("the", B)
    with pytest.raises(ValueError, match="one version is a pair"):
        compare_pair(bert, single, both)
    states = single.hidden_states.clone()
    states[-1, 0, 0] = torch.nan
    broken = replace(single, activations=replace(single.activations, hidden_states=states))
    with pytest.raises(ValueError, match="contain NaN or infinity"):
        compare_pair(bert, single, broken)
