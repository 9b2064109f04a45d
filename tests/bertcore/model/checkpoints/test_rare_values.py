"""Values of config.json that few checkpoints have: `transformers` decides what they mean."""

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers.activations import ACT2CLS

from bertcore import Bert
from bertcore.analysis import logit_attribution, masked_word_steps
from bertcore.model.architecture.config import ACTIVATIONS
from bertcore.model.others.model import OtherModel
from bertcore.training.tasks import open_task_model
from tests.support.exhaustive import spread
from tests.support.kit import TEXT, assert_same_states, edit, mini, opened, sentences, state, store
from tests.support.what_opens import opens

WITH_WEIGHTS = {"prelu", "xielu"}
ACTIVATION_OF = {
    "BertForMaskedLM": "hidden_act",
    "RobertaForMaskedLM": "hidden_act",
    "DistilBertForMaskedLM": "activation",
    "ElectraForMaskedLM": "hidden_act",
    "AlbertForMaskedLM": "hidden_act",
    "ModernBertForMaskedLM": "hidden_activation",
}
DECODERS = {
    "BertForMaskedLM": "cls.predictions.decoder.weight",
    "RobertaForMaskedLM": "lm_head.decoder.weight",
    "DistilBertForMaskedLM": "vocab_projector.weight",
    "ElectraForMaskedLM": "generator_lm_head.weight",
    "AlbertForMaskedLM": "predictions.decoder.weight",
    "ModernBertForMaskedLM": "decoder.weight",
}
TABLES = (".word_embeddings.weight", ".tok_embeddings.weight")


def test_all_activations_without_weights_are_known() -> None:
    assert set(ACTIVATIONS) == ACT2CLS.keys() - WITH_WEIGHTS


@opens("any activation of `transformers`")
@pytest.mark.parity
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_activation(activation: str, tmp_path: Path) -> None:
    mini(tmp_path, "BertForMaskedLM", hidden_act=activation)
    assert isinstance(assert_same_states(tmp_path, "BertForMaskedLM"), Bert)


@pytest.mark.parity
@pytest.mark.parametrize(
    ("name", "activation"), spread(ACTIVATION_OF, ["silu", "prelu", "laplace", "gelu_fast"])
)
def test_an_activation_of_each_family(name: str, activation: str, tmp_path: Path) -> None:
    mini(tmp_path, name, **{ACTIVATION_OF[name]: activation})
    model = assert_same_states(tmp_path, name)
    is_ours = activation not in WITH_WEIGHTS
    assert isinstance(model, Bert if is_ours else OtherModel)
    if not is_ours:
        assert "Therefore transformers runs it." in sentences(model)
        assert name.removesuffix("ForMaskedLM").lower() == model.config.family.name.lower()


@pytest.mark.parity
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("AlbertForMaskedLM", {"num_hidden_groups": 2}),
        ("AlbertForMaskedLM", {"inner_group_num": 2}),
        ("BertForMaskedLM", {"layer_norm_eps": 0.0}),
        ("BertForMaskedLM", {"initializer_range": 0.0}),
        ("ModernBertForMaskedLM", {"classifier_activation": "prelu"}),
    ],
)
def test_another_value(name: str, values: dict[str, Any], tmp_path: Path) -> None:
    mini(tmp_path, name)
    if values.get("initializer_range") is None:
        mini(tmp_path, name, **values)
    edit(tmp_path, **values)
    assert_same_states(tmp_path, name)


@pytest.mark.parity
def test_a_classifier_of_a_value_that_transformers_runs(tmp_path: Path) -> None:
    theirs = mini(tmp_path, num_labels=3, hidden_act="prelu")
    ids = torch.tensor([[2, 60, 70, 80, 3]])
    model = open_task_model(tmp_path, device="cpu")
    torch.testing.assert_close(model.module(ids), theirs(ids).logits, atol=1e-5, rtol=0)


@opens("relative positions")
@pytest.mark.parametrize(
    ("name", "kind"), spread(["BertModel", "AlbertModel"], ["relative_key", "alibi"])
)
def test_relative_positions_are_refused_with_the_reason(
    name: str, kind: str, tmp_path: Path
) -> None:
    mini(tmp_path, name)
    edit(tmp_path, position_embedding_type=kind)
    with pytest.raises(RuntimeError, match=f"'{kind}'.*transformers 5 reads.*wrong too"):
        opened(tmp_path)


def other_decoder(folder: Path, name: str) -> None:
    """Store a decoder that differs from the token table."""
    tensors = state(folder)
    table = next(tensor for key, tensor in tensors.items() if key.endswith(TABLES))
    store(folder, {**tensors, DECODERS[name]: torch.randn_like(table) / 9})


@opens("a decoder of its own")
@pytest.mark.parity
@pytest.mark.parametrize(("name", "is_tied"), spread(DECODERS, [True, False]))
def test_an_untied_decoder_predicts(name: str, is_tied: bool, tmp_path: Path) -> None:
    mini(tmp_path / "made", name, tie_word_embeddings=is_tied)
    if is_tied:
        other_decoder(tmp_path / "made", name)
    model = assert_same_states(tmp_path / "made", name)
    assert isinstance(model, Bert)
    assert model.report.decoder == "untied"
    assert "a matrix of its own" in sentences(model)
    model.save(tmp_path / "saved")
    again = assert_same_states(tmp_path / "saved", name)
    assert again.fill_mask(TEXT) == model.fill_mask(TEXT)


@pytest.mark.parity
@pytest.mark.parametrize("kept", ["bias", "decoder.bias", "both"])
def test_the_decoders_bias_is_the_one_of_transformers(kept: str, tmp_path: Path) -> None:
    mini(tmp_path, "BertForMaskedLM")
    tensors, start = state(tmp_path), "cls.predictions"
    bias = tensors.pop(f"{start}.bias")
    if kept != "decoder.bias":
        tensors[f"{start}.bias"] = bias
    if kept != "bias":
        tensors[f"{start}.decoder.bias"] = bias + torch.arange(len(bias)) / 9
    store(tmp_path, tensors)
    assert_same_states(tmp_path, "BertForMaskedLM")


def test_lens_steps_and_attribution_use_the_untied_decoder(tmp_path: Path) -> None:
    mini(tmp_path, "BertForMaskedLM", tie_word_embeddings=False)
    model = opened(tmp_path)
    trace = model.trace(TEXT)
    place = trace.input_ids.index(model.tokenizer.mask_id)
    logits = model.module.mlm_logits(trace.hidden_states[-1, place])
    steps = masked_word_steps(model, trace, place)
    torch.testing.assert_close(steps.logits, logits, atol=1e-5, rtol=0)
    word = model.tokenizer.id_to_token(int(logits.argmax()))
    shares = logit_attribution(model, trace, place)
    assert shares.word == word
    assert sum(part.logit for part in shares.parts) == pytest.approx(float(logits.max()), abs=1e-4)


def test_a_decoder_that_is_neither_tied_nor_stored_leaves_the_head_out(tmp_path: Path) -> None:
    mini(tmp_path, "BertForMaskedLM", tie_word_embeddings=False)
    name = DECODERS["BertForMaskedLM"]
    store(tmp_path, {k: v for k, v in state(tmp_path).items() if k != name})
    model = opened(tmp_path)
    assert "mlm" not in model.capabilities
    assert "The masked-word (MLM) head is incomplete" in sentences(model)
    assert name in model.report.missing
