"""ModernBERT's parts: rotary positions and windows equal to transformers', and their properties."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import ModernBertConfig as TheirConfig
from transformers.models.modernbert.modeling_modernbert import (
    ModernBertRotaryEmbedding,
    apply_rotary_pos_emb,
)

from bertcore import load
from bertcore.analysis.space.position_table import rotations
from bertcore.model.architecture.config import BertConfig, ModernBertConfig, shape_of
from bertcore.model.network import Network
from bertcore.model.network.attention import (
    AttentionFunction,
    attention_fused,
    attention_in_products,
)
from bertcore.model.network.initialize import initialize
from bertcore.model.network.modern import rotate, rotation_angles, window_mask
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make


@pytest.mark.parity
@pytest.mark.parametrize("kind", ["full_attention", "sliding_attention"])
def test_rotations_equal_transformers(kind: str) -> None:
    config = TheirConfig(hidden_size=48, num_attention_heads=3, num_hidden_layers=4)
    theirs = ModernBertRotaryEmbedding(config)
    queries, keys = torch.randn(2, 2, 3, 11, 16, generator=torch.Generator().manual_seed(1))
    cosines, sines = theirs(queries, torch.arange(11)[None], kind)
    expected = apply_rotary_pos_emb(queries, keys, cosines, sines)
    theta = config.rope_parameters[kind]["rope_theta"]
    angles = rotation_angles(11, 16, theta)
    for ours, wanted in zip((queries, keys), expected, strict=True):
        torch.testing.assert_close(rotate(ours, angles), wanted, atol=1e-6, rtol=1e-5)


def test_only_the_distance_is_left_in_the_product() -> None:
    query, key = torch.randn(2, 16, generator=torch.Generator().manual_seed(2))
    angles = rotation_angles(40, 16, 10_000.0)
    queries, keys = (rotate(x.expand(40, 16), angles) for x in (query, key))
    products = queries @ keys.T
    for distance in (0, 1, 7, 25):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(products[0, 0], query @ key)
    assert not torch.allclose(products[0, 1], products[0, 7], atol=1e-2)


def test_what_is_left_of_a_pair_is_the_cosine_of_its_turn(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    full, window = rotations(load(tmp_path, device="cpu"), 30)
    assert (full.layers, window.layers) == ((0, 3), (1, 2))
    assert (full.reach, window.reach) == (None, 4)
    width = 2 * full.cosines.shape[1]
    for kind in (full, window):
        pair = torch.zeros(30, width)
        pair[:, 1] = 1.0  # one number of pair 1
        turned = rotate(pair, rotation_angles(30, width, kind.theta))
        products = (turned @ turned.T)[0]
        torch.testing.assert_close(
            torch.from_numpy(kind.cosines[:, 1]), products, atol=1e-5, rtol=0
        )
    with pytest.raises(ValueError, match="BERT has no rotary positions"):
        rotations(tiny_bert(), 8)


def test_nothing_beyond_the_window_has_weight(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    bert = load(tmp_path, device="cpu")
    trace = bert.trace("The river bank was steep. It had rained all day, and the water ran down.")
    near = window_mask(trace.num_tokens, 4)
    assert trace.num_tokens > 20
    for layer in (1, 2):
        assert (trace.attentions[layer][:, ~near] == 0).all()
        assert (trace.attentions[layer][:, near] > 0).all()
    for layer in (0, 3):
        assert (trace.attentions[layer] > 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("attention", [attention_in_products, attention_fused])
def test_padding_beyond_the_window_stays_finite(
    attention: AttentionFunction, dtype: torch.dtype
) -> None:
    """A padded token farther from the text than the window reaches may look nowhere."""
    shape = shape_of("modernbert", vocab_size=100, num_hidden_layers=4, hidden_size=64)
    assert isinstance(shape, ModernBertConfig)
    shape = replace(shape, local_attention=16)
    network = initialize(Network(shape), torch.Generator().manual_seed(0))
    ids = torch.randint(5, 100, (2, 64), generator=torch.Generator().manual_seed(3))
    mask = torch.ones(2, 64, dtype=torch.bool)
    mask[1, 20:] = False  # tokens 29 on see none of the text
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        hidden = network(ids, None, mask, attention=attention)
        alone = network(ids[1:, :20], attention=attention)
    assert hidden.isfinite().all()
    torch.testing.assert_close(hidden[1, :20], alone[0], atol=2e-2, rtol=2e-2)
    hidden[mask].square().mean().backward()
    for name, weight in network.named_parameters():
        assert weight.grad is None or weight.grad.isfinite().all(), name


def test_both_generations_of_field_names_are_read() -> None:
    new = shape_of("modernbert", vocab_size=100, num_hidden_layers=5, hidden_size=64)
    values = new.to_hf_dict()
    assert json.loads(json.dumps(values)) == values
    assert BertConfig.from_hf_dict(values) == new
    older = dict(values)
    for name in ("layer_types", "rope_parameters"):
        del older[name]
    older |= {
        "global_attn_every_n_layers": 2,
        "global_rope_theta": 160_000.0,
        "local_rope_theta": 500.0,
    }
    read = BertConfig.from_hf_dict(older)
    assert isinstance(read, ModernBertConfig)
    assert [read.window(i) for i in range(5)] == [None, 64, None, 64, None]
    assert (read.rope_theta(0), read.rope_theta(1)) == (160_000.0, 500.0)
    theirs = TheirConfig(**older)
    assert list(read.layer_types) == theirs.layer_types
    assert read.to_hf_dict()["rope_parameters"] == theirs.rope_parameters


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"layer_types": ["full_attention", "spiral"] * 2}, "'spiral' among them"),
        ({"local_attention": 0}, "local_attention is 0"),
        ({"classifier_pooling": "max"}, "classifier_pooling is 'max'"),
        ({"classifier_activation": "snake"}, "activation is 'snake'; expected one of gelu"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "type 'yarn'"),
        ({"rope_parameters": {"full_attention": {"rope_theta": "big"}}}, "theta is 'big'"),
        ({"global_attn_every_n_layers": 0, "layer_types": None}, "every_n_layers is 0"),
        ({"hidden_size": 36, "num_attention_heads": 4}, "a head is 9 wide"),
    ],
)
def test_wrong_fields_are_refused_by_a_sentence(changes: dict[str, object], match: str) -> None:
    shape = shape_of("modernbert", vocab_size=100, num_hidden_layers=4, hidden_size=64)
    with pytest.raises(ValueError, match=match):
        BertConfig.from_hf_dict(shape.to_hf_dict() | changes)


def test_position_ids_are_refused(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    bert = load(tmp_path, device="cpu")
    num_tokens = bert.trace("The bank.").num_tokens
    with pytest.raises(ValueError, match="adds no position vectors"):
        bert.trace("The bank.", position_ids=list(reversed(range(num_tokens))))
