"""Drift of weights against numbers worked by hand and NumPy's norms."""

import math

import numpy as np
import pytest
import torch

from bertcore import Bert, Tokenizer
from bertcore.analysis import step_drift, training_example, weight_drift
from bertcore.analysis.compare.weight_drift import (
    LAYER_KINDS,
    Drift,
    WeightDrift,
    part_of,
    relative_change,
    train_once,
)
from bertcore.analysis.words.training_example import network_after
from bertcore.model.network import FAMILY_HEADS
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_vocabulary


def vectors(bert: Bert) -> dict[tuple[int | None, str], np.ndarray]:
    """Return the weights of each part as one vector."""
    parts: dict[tuple[int | None, str], list[np.ndarray]] = {}
    for name, tensor in bert.module.named_parameters():
        flat = tensor.detach().double().numpy().ravel()
        parts.setdefault(part_of(name), []).append(flat)
    return {part: np.concatenate(tensors) for part, tensors in parts.items()}


def drifts(found: WeightDrift) -> dict[tuple[int | None, str], Drift]:
    return {**found.layers, **{(None, part): drift for part, drift in found.others.items()}}


def test_every_part_is_numpys_norm() -> None:
    first, second = tiny_bert(seed=0), tiny_bert(seed=1)
    found = weight_drift(first, second)
    ours, theirs, parts = vectors(first), vectors(second), drifts(found)
    # BERT's layers have queries, keys and values apart; ModernBERT's are one matrix.
    kinds = [kind for part, kind in LAYER_KINDS.items() if part != "attention.qkv"]
    assert set(found.layers) == {(i, kind) for i in range(2) for kind in kinds}
    assert parts.keys() == ours.keys()
    for part, drift in parts.items():
        a, b = ours[part], theirs[part]
        assert drift.relative == pytest.approx(np.linalg.norm(b - a) / np.linalg.norm(a), rel=1e-9)
        cosine = (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b)
        assert drift.cosine == pytest.approx(cosine, rel=1e-9)
        assert (drift.num_weights, drift.num_changed) == (len(a), np.count_nonzero(b - a))
    layer = [part for part in ours if part[0] == 1]
    a, b = (np.concatenate([side[part] for part in layer]) for side in (ours, theirs))
    expected = np.linalg.norm(b - a) / np.linalg.norm(a)
    assert relative_change(parts[part] for part in layer) == pytest.approx(expected, rel=1e-9)
    assert found.not_finite == ()
    same = weight_drift(first, tiny_bert(seed=0))
    assert all(drift.relative == 0 and drift.cosine == 1 for drift in drifts(same).values())


def test_a_step_moves_every_part() -> None:
    bert = tiny_bert()
    example = training_example(bert, "The man was old. She sat on the mat.", ["It had rained."])
    ours = vectors(bert)
    moved = vectors(Bert(network_after(bert, example), bert.tokenizer))  # type: ignore[arg-type]
    for part, drift in drifts(step_drift(bert, example)).items():
        change = moved[part] - ours[part]
        assert drift.num_changed == np.count_nonzero(change) > 0
        expected = np.linalg.norm(change) / np.linalg.norm(ours[part])
        assert drift.relative == pytest.approx(expected, rel=1e-6)


def test_the_right_answers_before_and_after_a_step() -> None:
    trained = train_once(tiny_bert(), "The man was old. She sat on the mat.", ["It had rained."])
    example, effect = trained.example, trained.effect
    *words, pair = [(row.answer, row.p) for row in trained.answers if row.when == "before"]
    assert words == [(f"{g.token} ({g.position})", g.probability) for g in example.guesses]
    assert example.pair_probabilities is not None
    assert pair[1] == example.pair_probabilities[example.is_random]
    after = [row.p for row in trained.answers if row.when == "after"]
    assert after == [*effect.probabilities, effect.pair_probability]


def test_what_was_zero_and_what_is_nan_are_marked() -> None:
    first, second = tiny_bert(), tiny_bert()
    with torch.no_grad():
        for parameter in first.module.pooler.parameters():  # type: ignore[union-attr]
            parameter.zero_()
        second.module.layers[0].attention.key.weight[0, 0] = torch.nan
        second.module.layers[1].attention.key.bias[0] = torch.inf
    found = weight_drift(first, second)
    assert found.others["pooler"].relative == math.inf
    assert math.isnan(found.others["pooler"].cosine)
    broken = ("layers.0.attention.key.weight", "layers.1.attention.key.bias")
    assert found.not_finite == broken
    assert math.isnan(found.layers[0, "key"].relative)
    assert math.isnan(found.layers[1, "key"].relative)
    assert math.isnan(relative_change([found.layers[0, "key"], found.layers[0, "query"]]))
    assert found.layers[0, "query"].relative == 0


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
    assert "layers.0.feed_forward.intermediate.weight" in found.mis_shaped
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
    assert found.others["token table"].relative == 0
    assert found.others["token table"].num_weights == 32 * (len(pieces) - 1)


def test_every_tensor_has_a_part() -> None:
    network = tiny_network(tiny_config(embedding_size=16), heads=FAMILY_HEADS)
    parts = {part_of(name)[1] for name, _ in network.named_parameters()}
    assert "other parts" not in parts
    assert "embedding projection" in parts
    assert part_of("model.decoder.block.0.weight") == (None, "other parts")
