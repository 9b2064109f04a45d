"""Two runs compared: against SciPy, hand-worked values, and a network with the head zeroed."""

import copy

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine, jensenshannon

from bertcore import Bert, Changes
from bertcore.analysis import compare_runs
from bertcore.analysis.compare.before_after import cosine_change, divergence_of_rows, kl_divergence
from bertcore.model.network import ALL_HEADS
from tests.support.tiny import tiny_bert

A, B = "The river [MASK] was steep .", "it had [MASK] ."
OFF = Changes(heads_off=frozenset({(0, 1), (1, 3)}))


def test_the_same_run_twice_is_no_change(bert: Bert) -> None:
    trace = bert.trace(A, B)
    found = compare_runs(bert, trace, bert.trace(A, B))
    assert (found.hidden_change == 0).all()
    assert (found.attention_change == 0).all()
    assert found.next_before == found.next_after
    assert found.next_before.is_next == pytest.approx(bert.next_sentence(A, B).is_next, abs=1e-6)
    assert [shift.divergence for shift in found.shifts] == [0, 0]
    assert all(np.array_equal(shift.before, shift.after) for shift in found.shifts)


def test_after_is_what_a_network_with_the_heads_zeroed_says(bert: Bert) -> None:
    other = Bert(copy.deepcopy(bert.module), bert.tokenizer)
    for layer, head in OFF.heads_off:
        other.module.layers[layer].attention.output.weight.data[:, 8 * head : 8 * head + 8] = 0
    found = compare_runs(bert, bert.trace(A, B), bert.trace(A, B, changes=OFF), top_k=4)
    expected = zip(
        found.shifts,
        bert.fill_mask(A, B, top_k=200),
        other.fill_mask(A, B, top_k=200),
        strict=True,
    )
    for shift, before, after in expected:
        assert shift.words[:4] == tuple(word for word, _ in before[:4])
        assert {word for word, _ in after[:4]} <= set(shift.words)
        assert set(shift.words) == {word for word, _ in (*before[:4], *after[:4])}
        for word, p, q in zip(shift.words, shift.before, shift.after, strict=True):
            assert p == pytest.approx(dict(before)[word], abs=1e-6)
            assert q == pytest.approx(dict(after)[word], abs=1e-6)
        assert shift.divergence == pytest.approx(
            sum(p * np.log(p / dict(after)[word]) for word, p in before), abs=1e-5
        )
    assert [shift.position for shift in found.shifts] == [3, 10]
    assert found.next_before.is_next == pytest.approx(bert.next_sentence(A, B).is_next, abs=1e-6)
    assert found.next_after.is_next == pytest.approx(other.next_sentence(A, B).is_next, abs=1e-6)


def test_hidden_and_attention_changes_begin_above_the_first_change(bert: Bert) -> None:
    before, after = bert.trace(A, B), bert.trace(A, B, changes=OFF)
    found = compare_runs(bert, before, after)
    assert found.hidden_change.shape == (3, before.num_tokens)
    assert (found.hidden_change[0] == 0).all()
    assert (found.hidden_change[1:] > 0).all()
    assert found.attention_change.shape == (2, 4)
    assert (found.attention_change[0] == 0).all()
    assert (found.attention_change[1] > 0).all()
    for token in range(before.num_tokens):
        expected = cosine(before.hidden_states[2, token], after.hidden_states[2, token])
        assert found.hidden_change[2, token] == pytest.approx(expected, abs=1e-5)
    rows = [trace.attentions[1].numpy() for trace in (before, after)]
    expected = np.mean(jensenshannon(*rows, base=2, axis=-1) ** 2, axis=-1)
    np.testing.assert_allclose(found.attention_change[1], expected, atol=1e-5)


def test_divergences_worked_by_hand() -> None:
    one, other, even = torch.eye(2)[0], torch.eye(2)[1], torch.full((2,), 0.5)
    assert float(divergence_of_rows(one, other)) == pytest.approx(1)
    assert float(divergence_of_rows(one, even)) == pytest.approx(0.3112781)
    quarter = torch.tensor([0.25, 0.75])
    expected = 0.25 * np.log(0.5) + 0.75 * np.log(1.5)
    assert float(kl_divergence(quarter.log(), even.log())) == pytest.approx(expected, abs=1e-6)
    assert float(cosine_change(one, other)) == 1
    assert float(cosine_change(one, even)) == pytest.approx(1 - 2**-0.5)


def test_a_checkpoint_without_heads_has_the_inner_changes_only() -> None:
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    found = compare_runs(bare, bare.trace(A, B), bare.trace(A, B, changes=OFF))
    assert found.shifts == ()
    assert found.next_before is found.next_after is None
    assert (found.hidden_change[-1] > 0).all()


def test_a_single_text_and_what_cannot_be_compared(bert: Bert) -> None:
    trace = bert.trace("the river")
    found = compare_runs(bert, trace, bert.trace("the river", changes=OFF))
    assert found.next_before is None
    assert found.shifts == ()
    with pytest.raises(ValueError, match="different tokens"):
        compare_runs(bert, trace, bert.trace("the bank"))
    broken = tiny_bert()
    broken.module.layers[1].attention.value.weight.data[0, 0] = torch.nan
    trace = broken.trace("the river")
    with pytest.raises(ValueError, match=r"contain NaN or infinity.*choose float32"):
        compare_runs(broken, trace, trace)
