"""Drift of weights against numbers worked by hand and NumPy's norms."""

import math

import numpy as np
import pytest
import torch

from bertcore import Bert, Tokenizer
from bertcore.analysis.compare.weight_drift import (
    LAYER_KINDS,
    part_of,
    relative_change,
    step_drift,
    weight_drift,
)
from bertcore.analysis.words.training_example import network_after, training_example
from bertcore.network import FAMILY_HEADS
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary


def test_every_tensor_is_numpys_norm() -> None:
    first, second = tiny_bert(seed=0), tiny_bert(seed=1)
    found = weight_drift(first, second)
    ours, theirs = (dict(bert.module.named_parameters()) for bert in (first, second))
    assert [tensor.name for tensor in found.tensors] == list(ours)
    for tensor in found.tensors:
        a, b = (part[tensor.name].detach().double().numpy() for part in (ours, theirs))
        assert tensor.drift.relative == pytest.approx(
            np.linalg.norm(b - a) / np.linalg.norm(a), rel=1e-9
        )
        cosine = (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b)
        assert tensor.drift.cosine == pytest.approx(cosine, rel=1e-9)
        assert tensor.drift.num_changed == np.count_nonzero(b - a)
    # BERT's layers have queries, keys and values apart; ModernBERT's are one matrix.
    kinds = [kind for part, kind in LAYER_KINDS.items() if part != "attention.qkv"]
    assert set(found.layers) == {(i, kind) for i in range(2) for kind in kinds}
    part = found.layers[1, "query"]
    names = [f"layers.1.attention.query.{kind}" for kind in ("weight", "bias")]
    flat = [
        np.concatenate([tensors[name].detach().double().numpy().ravel() for name in names])
        for tensors in (ours, theirs)
    ]
    expected = np.linalg.norm(flat[1] - flat[0]) / np.linalg.norm(flat[0])
    assert part.relative == pytest.approx(expected, rel=1e-9)
    names = [name for name in ours if name.startswith("layers.1.")]
    flat = [
        np.concatenate([tensors[name].detach().double().numpy().ravel() for name in names])
        for tensors in (ours, theirs)
    ]
    expected = np.linalg.norm(flat[1] - flat[0]) / np.linalg.norm(flat[0])
    layer = [drift for (number, _), drift in found.layers.items() if number == 1]
    assert relative_change(layer) == pytest.approx(expected, rel=1e-9)
    assert not found.is_same
    assert found.not_finite == ()


def test_a_step_moves_every_part() -> None:
    bert = tiny_bert()
    example = training_example(bert, "The man was old. She sat on the mat.", ["It had rained."])
    found = step_drift(bert, example)
    ours = dict(bert.module.named_parameters())
    for name, moved in network_after(bert, example).named_parameters():
        tensor = next(tensor for tensor in found.tensors if tensor.name == name)
        change = (moved - ours[name]).detach().double()
        assert tensor.drift.num_changed == int(change.count_nonzero())
        length = float(ours[name].detach().double().norm())
        if length:
            expected = float(change.norm()) / length
            assert tensor.drift.relative == pytest.approx(expected, rel=1e-6)
    assert all(part.num_changed for part in [*found.layers.values(), *found.others.values()])


def test_the_same_twice_is_exactly_zero() -> None:
    found = weight_drift(tiny_bert(), tiny_bert())
    assert found.is_same
    assert all(t.drift.relative == 0 and t.drift.cosine == 1 for t in found.tensors)


def test_what_was_zero_and_what_is_nan_are_marked() -> None:
    first, second = tiny_bert(), tiny_bert()
    with torch.no_grad():
        first.module.pooler.dense.bias.zero_()  # type: ignore[union-attr]
        second.module.layers[0].attention.key.weight[0, 0] = torch.nan
        second.module.layers[1].attention.key.bias[0] = torch.inf
    found = weight_drift(first, second)
    by_name = {tensor.name: tensor.drift for tensor in found.tensors}
    assert by_name["pooler.dense.bias"].relative == math.inf
    assert math.isnan(by_name["pooler.dense.bias"].cosine)
    assert found.not_finite == (
        "layers.0.attention.key.weight",
        "layers.1.attention.key.bias",
    )
    for name in found.not_finite:
        assert math.isnan(by_name[name].relative)
    assert math.isnan(found.layers[0, "key"].relative)
    assert math.isnan(relative_change([found.layers[0, "key"], found.layers[0, "query"]]))
    assert found.layers[0, "query"].relative == 0
    assert not found.is_same


def test_heads_that_one_lacks_and_other_shapes() -> None:
    first = tiny_bert()
    second = tiny_bert(tiny_config(num_hidden_layers=3, intermediate_size=48), heads=frozenset())
    found = weight_drift(first, second)
    assert {part_of(name)[1] for name in found.only_first} == {
        "pooler",
        "masked-word head",
        "next-sentence head",
    }
    assert all(name.startswith("layers.2.") for name in found.only_second)
    shape = found.mis_shaped["layers.0.feed_forward.intermediate.weight"]
    assert shape == ((64, 32), (48, 32))
    assert (0, "query") in found.layers
    assert (0, "feed-forward in") not in found.layers
    assert (0, "feed-forward out") not in found.layers  # its bias fits, its matrix does not
    assert (2, "query") not in found.layers


def test_other_vocabularies_are_compared_over_the_pieces_of_both() -> None:
    first = tiny_bert()
    pieces = tiny_vocabulary()
    pieces = [*pieces[:5], *reversed(pieces[5:-20]), "zebra"]
    second = Bert(
        tiny_network(tiny_config(vocab_size=len(pieces))),
        Tokenizer(pieces, do_lower_case=True, model_max_length=64),
    )
    with torch.no_grad():  # the same vectors under other numbers
        for row, piece in enumerate(pieces):
            old = first.tokenizer.token_to_id(piece)
            if old is not None:
                table = second.module.embeddings.word_embeddings.weight
                table[row] = first.module.embeddings.word_embeddings.weight[old]
    found = weight_drift(first, second)
    table = next(t for t in found.tensors if t.name == "embeddings.word_embeddings.weight")
    assert table.drift.relative == 0
    assert table.rows == f"{len(pieces) - 1} pieces in both vocabularies"
    assert table.drift.num_weights == 32 * (len(pieces) - 1)
    assert found.is_same is False


def test_every_tensor_has_a_part() -> None:
    network = tiny_network(tiny_config(embedding_size=16), heads=FAMILY_HEADS)
    parts = {part_of(name)[1] for name, _ in network.named_parameters()}
    assert "other parts" not in parts
    assert "embedding projection" in parts
    assert part_of("model.decoder.block.0.weight") == (None, "other parts")
