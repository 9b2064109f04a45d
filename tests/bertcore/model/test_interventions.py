"""Changed runs equal transformers' model changed by hand; with no change nothing differs."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertcore import Bert, Changes, Trace, load
from bertcore.model.checkpoints.save import hf_state_dict
from bertcore.model.interventions import Block, blocks_of, every_head, parse_head, pattern_mask
from bertcore.model.network import additive_mask
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


def test_no_change_is_bit_equal_and_does_nothing(bert: Bert, plain: Trace) -> None:
    assert not Changes()
    for changes in (
        Changes(),
        Changes(pattern="drawn"),
        Changes(pattern="prefix", prefix_length=plain.num_tokens),
    ):
        same = bert.trace(A, B, changes=changes)
        assert torch.equal(same.hidden_states, plain.hidden_states)
        assert torch.equal(same.attentions, plain.attentions)
    bert.trace(A, B, changes=Changes(heads_off=frozenset(every_head(bert.config))))
    assert torch.equal(bert.trace(A, B).hidden_states, plain.hidden_states)  # weights are left


def test_heads_are_read_and_listed(bert: Bert) -> None:
    assert parse_head(" 11.7 ") == (11, 7)
    for text in ("", "3", "0.", "a.b", "0.3.1", "-1.0", "1" * 99):
        with pytest.raises(ValueError, match=r"is not a head; write layer\.head"):
            parse_head(text)
    assert every_head(bert.config)[:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]


@pytest.mark.parity
@pytest.mark.parametrize(
    "off",
    [
        {(1, 0), (2, 2)},
        {(layer, head) for layer in range(3) for head in range(4)},
    ],
    ids=["two", "all"],
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads_off": frozenset({(0, 4)})}, r"no head 0\.4.*heads 0 to 3.*Write layer\.head"),
        ({"layers_skipped": frozenset({3})}, r"layer 3 cannot be skipped.*0 to 2"),
        ({"pattern": "sideways"}, r"pattern is 'sideways'; expected one of bidirectional, causal"),
        ({"pattern": "prefix", "prefix_length": 99}, r"prefix_length is 99.*has 13 tokens"),
        ({"pattern": "drawn", "blocked": ((0, 0, 0, 13),)}, r"refers to token 13.*Draw it again"),
        ({"pattern": "drawn", "blocked": ((4, 4, 0, 12),)}, r"token 4 may attend to nothing"),
    ],
)
def test_impossible_changes_are_refused(bert: Bert, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bert.trace("The river bank was steep.", "It had rained.", changes=Changes(**changes))


def test_python_of_the_changes_makes_them_again() -> None:
    changes = Changes(
        heads_off=frozenset({(1, 2), (0, 3)}),
        layers_skipped=frozenset({2}),
        pattern="drawn",
        blocked=(Block(0, 3, 4, 5),),
    )
    assert repr(Changes(heads_off=frozenset({(1, 2), (0, 3)}))) == (
        "Changes(heads_off=frozenset([(0, 3), (1, 2)]))"
    )
    again = eval(repr(changes), {"Changes": Changes})
    assert (again, hash(again)) == (changes, hash(changes))
