"""Removing all heads in batches equals removing one at a time."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from bertcore import Bert, Changes, Trace
from bertcore.analysis import compare_runs, rank_heads
from bertcore.analysis.heads import importance as head_importance
from bertcore.analysis.heads.importance import HeadImportance
from bertcore.model.network import ALL_HEADS
from tests.support.tiny import tiny_bert, tiny_config

A, B = "The river [MASK] was steep .", "it had [MASK] ."
POSITION = 10
PRETRAINED = ("word", "divergence", "next_sentence", "hidden")
"""The measures without a task head."""

CASES = {
    "nothing else": Changes(),
    "causal": Changes(pattern="causal"),
    "others off": Changes(heads_off=frozenset({(0, 0), (2, 1)})),
    "a layer skipped": Changes(layers_skipped=frozenset({1})),
    "all": Changes(
        heads_off=frozenset({(1, 2)}),
        layers_skipped=frozenset({0}),
        pattern="prefix",
        prefix_length=3,
    ),
}


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=3))


@torch.no_grad()
def one_at_a_time(bert: Bert, changes: Changes, word: str) -> dict[str, np.ndarray]:
    before = bert.trace(A, B, changes=changes)
    word_id = bert.tokenizer.token_to_id(word)
    out = {name: np.full((3, 4), np.nan) for name in PRETRAINED}

    def log_p(trace: Trace) -> float:
        logits = bert.module.mlm_logits(trace.hidden_states[-1, POSITION])
        return float(logits.log_softmax(-1)[word_id])

    for layer in range(3):
        for head in range(4):
            if (layer, head) in changes.heads_off:
                continue
            off = replace(changes, heads_off=changes.heads_off | {(layer, head)})
            after = bert.trace(A, B, changes=off)
            found = compare_runs(bert, before, after)
            out["word"][layer, head] = log_p(after) - log_p(before)
            out["divergence"][layer, head] = found.shifts[1].divergence
            is_next = found.next_after.is_next - found.next_before.is_next
            out["next_sentence"][layer, head] = is_next
            out["hidden"][layer, head] = found.hidden_change[-1].mean()
    return out


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tokens_per_batch", [8192, 1])
def test_the_batched_removals_are_the_single_ones(
    bert: Bert, case: str, tokens_per_batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_importance, "TOKENS_PER_BATCH", tokens_per_batch)
    changes = CASES[case]
    found = rank_heads(bert, A, B, changes=changes, position=POSITION, word="rained")
    assert found.measures() == PRETRAINED
    for name, expected in one_at_a_time(bert, changes, "rained").items():
        np.testing.assert_allclose(getattr(found, name), expected, atol=2e-5, err_msg=name)
    assert any(
        abs(effect) > 1e-3 for *_, effect in found.strongest("word")
    )  # the heads of the tiny network do something


def test_the_strongest_come_first_and_heads_that_are_off_never() -> None:
    nan = np.nan
    effects = np.array([[0.1, -0.9], [nan, 0.5]], dtype=np.float32)
    found = HeadImportance(3, "x", effects, effects, None, effects)
    assert [(layer, head) for layer, head, _ in found.strongest("word")] == [(0, 1), (1, 1), (0, 0)]
    assert found.strongest("word", 1)[0][2] == pytest.approx(-0.9)
    assert found.measures() == ("word", "divergence", "hidden")


def test_the_word_is_the_best_guess_if_none_is_given(bert: Bert) -> None:
    shares: list[float] = []
    found = rank_heads(bert, A, B, on_fraction=shares.append)
    assert shares == [pytest.approx(0.5), pytest.approx(5 / 6), 1.0]
    assert found.position == 3
    assert found.chosen == bert.fill_mask(A, B, top_k=1)[0][0][0]


def test_without_a_mask_or_heads_the_hidden_states_are_left(bert: Bert) -> None:
    assert rank_heads(bert, "the river").measures() == ("hidden",)
    assert rank_heads(bert, "a b", "c").measures() == ("next_sentence", "hidden")
    bare = tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"})
    found = rank_heads(bare, A, B)
    assert (found.measures(), found.position, found.chosen) == (("hidden",), None, None)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"position": 4}, r"token 4 is not a \[MASK\]. Choose one of \[3, 10\]"),
        ({"word": "riverbank"}, r"'riverbank' is not a piece of this checkpoint's vocabulary"),
        ({"changes": Changes(heads_off=frozenset({(9, 0)}))}, r"no head 9\.0"),
    ],
)
def test_wrong_questions_are_refused(bert: Bert, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_heads(bert, A, B, **asked)
    broken = tiny_bert()
    broken.module.embeddings.norm.bias.data[0] = torch.nan
    with pytest.raises(ValueError, match="contain NaN or infinity"):
        rank_heads(broken, A, B)
