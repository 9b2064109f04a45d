"""Changed runs equal transformers' model changed by hand; with no change nothing differs."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertcore import Bert, Trace, load
from bertcore.analysis.heads.importance import rank_heads
from bertcore.checkpoints.save import hf_state_dict
from bertcore.interventions import (
    Block,
    Cell,
    Changes,
    blocks_of,
    every_head,
    parse_head,
    pattern_mask,
    set_cells,
)
from bertcore.network import additive_mask, attention_explicit
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make

A, B = "The river bank was steep.", "It had rained."
HEAD = 8
"""Width of a head of the tiny network."""


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=3))


@pytest.fixture(scope="module")
def plain(bert: Bert) -> Trace:
    return bert.trace(A, B)


def reference(bert: Bert) -> Any:
    fields = bert.config.to_hf_dict()
    config = transformers.BertConfig(**fields, attn_implementation="eager")
    model = transformers.BertForPreTraining(config)
    model.load_state_dict(hf_state_dict(bert.module), strict=False)
    model.tie_weights()
    return model.eval()


@torch.no_grad()
def run(model: Any, trace: Trace, mask: Tensor | None = None) -> Any:
    return model.bert(
        input_ids=torch.tensor([trace.input_ids]),
        token_type_ids=torch.tensor([trace.segment_ids]),
        position_ids=torch.tensor([trace.position_ids]),
        attention_mask=mask,
        output_hidden_states=True,
        output_attentions=True,
    )


def assert_equal(ours: Trace, theirs: Any) -> None:
    states = torch.stack([state[0] for state in theirs.hidden_states])
    torch.testing.assert_close(ours.hidden_states, states, atol=1e-5, rtol=0)
    weights = torch.stack([layer[0] for layer in theirs.attentions])
    torch.testing.assert_close(ours.attentions, weights, atol=1e-5, rtol=0)


# --- nothing changes --------------------------------------------------------------------------


def test_no_change_is_bit_equal_and_does_nothing(bert: Bert, plain: Trace) -> None:
    assert not Changes()
    for changes in (
        Changes(),
        Changes(pattern="drawn"),
        Changes(pattern="prefix", prefix_length=plain.num_tokens),
        Changes(segment_ids=((0, 0),), position_ids=((3, 3),)),
    ):
        same = bert.trace(A, B, changes=changes)
        assert torch.equal(same.hidden_states, plain.hidden_states)
        assert torch.equal(same.attentions, plain.attentions)


def test_a_change_leaves_the_weights_and_the_next_run_alone(bert: Bert, plain: Trace) -> None:
    before = {name: p.clone() for name, p in bert.module.named_parameters()}
    bert.trace(A, B, changes=Changes(heads_off=frozenset(every_head(bert.config))))
    assert all(torch.equal(before[name], p) for name, p in bert.module.named_parameters())
    assert torch.equal(bert.trace(A, B).hidden_states, plain.hidden_states)


@pytest.mark.parametrize("text", ["", "3", "0.", ".3", "a.b", "0.3.1", "-1.0", "0,3", "1" * 99])
def test_what_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a head; write layer\.head"):
        parse_head(text)


def test_heads_are_read_and_listed(bert: Bert) -> None:
    assert parse_head(" 11.7 ") == (11, 7)
    assert every_head(bert.config)[:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]


# --- heads and layers -------------------------------------------------------------------------


@pytest.mark.parity
@pytest.mark.parametrize(
    "off",
    [
        {(0, 3)},
        {(1, 0), (2, 2)},
        {(1, head) for head in range(4)},
        {(layer, head) for layer in range(3) for head in range(4)},
    ],
    ids=["one", "two", "a layer", "all"],
)
def test_heads_off_equal_zeroed_output_columns(bert: Bert, off: set[tuple[int, int]]) -> None:
    model = reference(bert)
    for layer, head in off:
        output = model.bert.encoder.layer[layer].attention.output.dense.weight
        output.data[:, HEAD * head : HEAD * (head + 1)] = 0
    ours = bert.trace(A, B, changes=Changes(heads_off=frozenset(off)))
    assert_equal(ours, run(model, ours))


@pytest.mark.parity
def test_a_skipped_layer_equals_a_model_without_it(bert: Bert, plain: Trace) -> None:
    model = reference(bert)
    del model.bert.encoder.layer[1]
    ours = bert.trace(A, B, changes=Changes(layers_skipped=frozenset({1})))
    theirs = run(model, ours)
    kept = [0, 1, 3]
    assert torch.equal(ours.hidden_states[2], ours.hidden_states[1])
    states = torch.stack([state[0] for state in theirs.hidden_states])
    torch.testing.assert_close(ours.hidden_states[kept], states, atol=1e-5, rtol=0)
    # What the layer would have looked at is there all the same: its input is the plain run's.
    assert torch.equal(ours.attentions[1], plain.attentions[1])


# --- patterns ---------------------------------------------------------------------------------


def test_the_patterns_are_those_of_gpt_and_unilm() -> None:
    assert pattern_mask("bidirectional", 4, 2) is None
    causal = pattern_mask("causal", 4, 2)
    assert causal is not None
    assert causal.int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    prefix = pattern_mask("prefix", 4, 2)
    assert prefix is not None
    assert prefix.int().tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


@pytest.mark.parity
@pytest.mark.parametrize("pattern", ["causal", "prefix", "drawn"])
def test_patterns_equal_transformers_with_a_mask_of_pairs(bert: Bert, pattern: str) -> None:
    num_tokens = len(bert.tokenize(A, B))
    generator = torch.Generator().manual_seed(0)
    drawn = torch.rand(num_tokens, num_tokens, generator=generator) < 0.5
    drawn |= torch.eye(num_tokens, dtype=torch.bool)
    ours = bert.trace(A, B, changes=Changes(pattern=pattern, blocked=blocks_of(drawn)))
    in_a = ours.tokens.index("[SEP]") + 1
    allowed = drawn if pattern == "drawn" else pattern_mask(pattern, num_tokens, in_a)
    assert allowed is not None
    theirs = run(reference(bert), ours, additive_mask(allowed[None], torch.float32))
    assert_equal(ours, theirs)
    assert (ours.attentions[:, :, ~allowed] == 0).all()


def without_itself(num_tokens: int) -> tuple[Block, ...]:
    return blocks_of(~torch.eye(num_tokens, dtype=torch.bool))


def test_a_drawn_mask_joins_the_causal_one_and_may_not_blind_a_token() -> None:
    causal = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    size = causal.trace(A, B).num_tokens
    with pytest.raises(ValueError, match="token 0 may attend to nothing in layer 0"):
        causal.trace(A, B, changes=Changes(pattern="drawn", blocked=without_itself(size)))
    with pytest.raises(ValueError, match="token 0 may attend to nothing in layer 0"):
        rank_heads(
            causal,
            A,
            B,
            changes=Changes(pattern="drawn", blocked=without_itself(size)),
        )
    drawn = ~torch.eye(size, dtype=torch.bool)
    drawn[0, 0] = True
    changed = causal.trace(A, B, changes=Changes(pattern="drawn", blocked=blocks_of(drawn)))
    allowed = drawn & torch.ones_like(drawn).tril()
    assert ((changed.attentions > 0) == allowed).all()
    for pattern in ("causal", "prefix"):
        same = causal.trace(A, B, changes=Changes(pattern=pattern))
        assert torch.equal(same.attentions, causal.trace(A, B).attentions)


def test_a_drawn_mask_joins_the_window_and_may_not_blind_a_token(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    modern = load(tmp_path, device="cpu")
    size = modern.trace(A, B).num_tokens
    far = (Block(3, 3, 0, size - 2),)
    assert size - 1 - 3 > 4
    with pytest.raises(ValueError, match="token 3 may attend to nothing in layer 1"):
        modern.trace(A, B, changes=Changes(pattern="drawn", blocked=far))
    near = without_itself(size)
    changed = modern.trace(A, B, changes=Changes(pattern="drawn", blocked=near))
    places = torch.arange(size)
    distances = (places[:, None] - places).abs()
    assert ((changed.attentions[1] > 0) == (distances > 0) & (distances <= 4)).all()


@pytest.mark.parametrize("seed", range(5))
def test_blocks_hold_any_mask(seed: int) -> None:
    allowed = torch.rand(17, 17, generator=torch.Generator().manual_seed(seed)) < 0.6
    allowed |= torch.eye(17, dtype=torch.bool)
    again = pattern_mask("drawn", 17, 0, blocks_of(allowed))
    assert again is not None
    assert torch.equal(again, allowed)


# --- edits ------------------------------------------------------------------------------------


@pytest.mark.parity
def test_edited_ids_equal_transformers_with_these_ids(bert: Bert, plain: Trace) -> None:
    changes = Changes(segment_ids=((2, 1), (8, 0)), position_ids=((1, 60), (4, 1)))
    ours = bert.trace(A, B, changes=changes)
    segments, positions = list(plain.segment_ids), list(plain.position_ids)
    segments[2], segments[8], positions[1], positions[4] = 1, 0, 60, 1
    assert (ours.segment_ids, ours.position_ids) == (segments, positions)
    assert_equal(ours, run(reference(bert), ours))


def test_a_cell_is_set_and_the_rest_rescaled() -> None:
    weights = torch.tensor([[[[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.0, 0.0, 1.0]]]])
    set_cells([Cell(0, 0, 0, 0, 0.0), Cell(0, 0, 1, 2, 0.1), Cell(0, 0, 2, 0, 1.0)], weights)
    expected = [[0.0, 0.6, 0.4], [0.3, 0.6, 0.1], [1.0, 0.0, 0.0]]
    torch.testing.assert_close(weights[0, 0], torch.tensor(expected))


@torch.no_grad()
def test_the_layers_follow_from_the_edited_weights(bert: Bert, plain: Trace) -> None:
    """The run continues with the edited row: recomputed by hand from the plain trace."""
    changes = Changes(cells=(Cell(1, 2, 4, 7, 0.75),))
    ours = bert.trace(A, B, changes=changes)
    weights = plain.attentions[1].clone()
    set_cells([Cell(1, 2, 4, 7, 0.75)], weights[None])
    assert float(weights[2, 4, 7]) == 0.75
    torch.testing.assert_close(ours.attentions[1], weights)
    layer = bert.module.layers[1]
    before = plain.hidden_states[1][None]
    context = (weights @ plain.values[1])[None]
    by_hand = layer.feed_forward(layer.attention.combine(context, before))[0]
    torch.testing.assert_close(ours.hidden_states[2], by_hand, atol=1e-6, rtol=0)
    assert torch.equal(ours.hidden_states[:2], plain.hidden_states[:2])
    assert not torch.equal(ours.hidden_states[2:], plain.hidden_states[2:])


def test_all_changes_together_on_the_device_and_format_of_the_network(bert: Bert) -> None:
    half = tiny_bert(tiny_config(num_hidden_layers=3))
    half.module.bfloat16()
    changes = Changes(
        heads_off=frozenset({(0, 0)}),
        layers_skipped=frozenset({1}),
        pattern="causal",
        segment_ids=((1, 1),),
        cells=(Cell(2, 1, 3, 0, 0.5),),
    )
    trace = half.trace(A, B, changes=changes)
    assert trace.hidden_states.dtype == torch.bfloat16
    full = bert.trace(A, B, changes=changes)
    assert (trace.hidden_states.float() - full.hidden_states).abs().mean() < 0.05


def test_an_edit_of_the_weights_is_seen_by_the_values() -> None:
    def empty(weights: Tensor) -> None:
        weights.zero_()

    q, k, v = torch.randn(3, 1, 2, 4, 8, generator=torch.Generator().manual_seed(0)).unbind()
    context, weights = attention_explicit(q, k, v, None, None, empty)
    assert (context == 0).all()
    assert (weights == 0).all()


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads_off": frozenset({(0, 4)})}, r"no head 0\.4.*heads 0 to 3.*Write layer\.head"),
        ({"heads_off": frozenset({(-1, 0)})}, r"no head -1\.0"),
        ({"layers_skipped": frozenset({3})}, r"layer 3 cannot be skipped.*0 to 2"),
        ({"pattern": "sideways"}, r"pattern is 'sideways'; expected one of bidirectional, causal"),
        ({"pattern": "prefix", "prefix_length": 99}, r"prefix_length is 99.*has 13 tokens"),
        ({"pattern": "drawn", "blocked": ((0, 0, 0, 13),)}, r"refers to token 13.*Draw it again"),
        ({"pattern": "drawn", "blocked": ((4, 4, 0, 12),)}, r"token 4 may attend to nothing"),
        ({"segment_ids": ((13, 0),)}, r"segment_ids refers to token 13.*0 to 12"),
        ({"segment_ids": ((1, 2),)}, r"segment_ids contains 2"),
        ({"position_ids": ((1, 64),)}, r"position_ids contains 64"),
        ({"position_ids": ((-1, 4),)}, r"position_ids refers to token -1"),
        ({"cells": ((0, 0, 13, 0, 0.5),)}, r"cells refers to token 13"),
        ({"cells": ((3, 0, 0, 0, 0.5),)}, r"cells names head 3\.0"),
        ({"cells": ((0, 0, 0, 0, 1.5),)}, r"weight of 1\.5 was given; expected 0 to 1"),
        ({"cells": ((0, 0, 0, 0, float("nan")),)}, r"weight of nan"),
        ({"cells": ((0, 0, 1, 0, 0.7), (0, 0, 1, 2, 0.7))}, r"token 1 in head 0 sum to 1\.4"),
        (
            {"pattern": "causal", "cells": ((0, 0, 0, 0, 0.5),)},
            r"token 0 attends to nothing else in head 0, so its remaining attention of 0\.5",
        ),
    ],
)
def test_impossible_changes_are_refused(bert: Bert, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bert.trace("The river bank was steep.", "It had rained.", changes=Changes(**changes))


def test_python_of_the_changes_makes_them_again(bert: Bert) -> None:
    changes = Changes(
        heads_off=frozenset({(1, 2), (0, 3)}),
        layers_skipped=frozenset({2}),
        pattern="drawn",
        blocked=(Block(0, 3, 4, 5),),
        cells=(Cell(0, 0, 1, 2, 0.5),),
        segment_ids=((1, 1),),
    )
    assert repr(Changes()) == "Changes()"
    assert repr(Changes(heads_off=frozenset({(1, 2), (0, 3)}))) == (
        "Changes(heads_off=frozenset([(0, 3), (1, 2)]))"
    )
    again = eval(repr(changes), {"Changes": Changes})
    assert again == changes
    ours, same = bert.trace(A, B, changes=changes), bert.trace(A, B, changes=again)
    assert torch.equal(ours.hidden_states, same.hidden_states)
    assert hash(again) == hash(changes)
