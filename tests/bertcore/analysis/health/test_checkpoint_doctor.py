"""The checkpoint doctor: fresh weights are called random, trained ones not, collapsed ones so."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import bertcore
from bertcore import Bert
from bertcore.analysis import examine
from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS, Diagnosis, spectral_edge
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from tests.support.exhaustive import all_but
from tests.support.rigged_models import random_model
from tests.support.tiny import tiny_bert, tiny_config, tiny_tokenizer


def default() -> Bert:
    return bertcore.load("default", device="cpu")


@pytest.fixture(scope="module")
def trained() -> Diagnosis:
    return examine(default())


def fresh(config: bertcore.BertConfig, tokenizer: bertcore.Tokenizer, seed: int = 0) -> Bert:
    generator = torch.Generator().manual_seed(seed)
    return Bert(initialize(Network(config), generator), tokenizer)


def of(found: Diagnosis, sign: str) -> float:
    return next(finding.value for finding in found.findings if finding.sign == sign)


# --- the spectrum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64, 64), (256, 64), (100, 400)])
@pytest.mark.parametrize("std", [0.02, 3.0])
def test_the_edge_of_random_numbers_is_one(shape: tuple[int, int], std: float) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1)) * std
    exact = torch.linalg.svdvals(matrix)[0] / (
        matrix.std(correction=0) * sum(map(math.sqrt, shape))
    )
    assert spectral_edge(matrix) == pytest.approx(float(exact), rel=0.02)
    assert spectral_edge(matrix) == pytest.approx(1, abs=min(shape) ** (-2 / 3))


def test_a_direction_that_was_learned_stands_out_of_the_edge() -> None:
    generator = torch.Generator().manual_seed(2)
    noise = torch.randn(128, 128, generator=generator)
    left, right = torch.nn.functional.normalize(torch.randn(2, 128, generator=generator), dim=-1)
    learned = noise + 60.0 * torch.outer(left, right)
    exact = torch.linalg.svdvals(learned)[0] / (learned.std(correction=0) * 2 * math.sqrt(128))
    assert spectral_edge(learned) == pytest.approx(float(exact), rel=1e-3)
    assert spectral_edge(learned) > 2
    assert math.isnan(spectral_edge(torch.zeros(16, 16)))


# --- verdicts -------------------------------------------------------------------------------------


def test_the_shipped_checkpoint_is_trained(trained: Diagnosis) -> None:
    assert trained.verdict == "trained"
    assert all(finding.is_healthy for finding in trained.findings)
    assert trained.sentences()[0] == "Nothing here looks untrained or collapsed."
    assert trained.entropies.shape == (6, 8)
    assert 0 < float(trained.entropies.mean()) < 0.9


@pytest.mark.parametrize("seed", all_but([0], [0, 1, 2]))
def test_a_fresh_network_is_random(seed: int) -> None:
    bert = default()
    found = examine(fresh(bert.config, bert.tokenizer, seed))
    assert found.verdict == "random"
    text = " ".join(found.sentences())
    assert "look freshly initialised" in text
    assert "36 of 36 matrices" in text
    assert "48 of 48 heads spread theirs evenly" in text
    assert "typical of untrained weights" in text
    assert of(found, "weights") == pytest.approx(1, abs=0.03)
    assert of(found, "attention") == pytest.approx(1, abs=0.01)


def test_a_network_narrower_than_a_spectrum_is_too_small_to_judge() -> None:
    shape = replace(tiny_config(), hidden_size=4, num_attention_heads=2, intermediate_size=6)
    found = examine(fresh(shape, tiny_tokenizer()))
    assert found.verdict == "too small"
    assert math.isnan(of(found, "weights"))
    assert "at least 8 wide and high" in " ".join(found.sentences())


def test_a_collapsed_encoder_is_called_collapsed() -> None:
    bert = default()
    with torch.no_grad():
        bert.module.layers[-1].feed_forward.norm.weight.mul_(1e-3)  # only its bias is left
    found = examine(bert)
    assert found.verdict == "collapsed"
    assert "looks collapsed" in found.sentences()[0]
    assert "one vector for all of them" in " ".join(found.sentences())
    assert of(found, "[CLS]") > 0.9995
    assert of(found, "weights") == pytest.approx(of(examine(default()), "weights"))


TEXTS = ("the river bank was steep", "she went to shop", "paris is capital of france", "fish milk")


@torch.no_grad()
def collapse(network: Network, sign: str) -> None:
    """Give the weights a trained spectrum, and make one sign's last states equal.

    "[CLS]": no token reads another, so [CLS] is the same in all texts. "tokens": each is the mean
    of its text.
    """
    generator = torch.Generator().manual_seed(5)
    del network.layers[1:]
    network.config = replace(network.config, num_hidden_layers=1)
    (layer,) = network.layers
    attention, feed_forward = layer.attention, layer.feed_forward
    for name, matrix in layer.named_parameters():
        if matrix.dim() == 2:
            left, right = (torch.randn(size, generator=generator) for size in matrix.shape)
            matrix.add_(torch.outer(left, right), alpha=float(matrix.std()))
        elif name.endswith("bias"):
            matrix.zero_()
    attention.query.weight.mul_(1e-5)
    attention.output.weight.mul_(1e-5 if sign == "[CLS]" else 1e5)
    feed_forward.output.weight.mul_(1e-5)


HEADS = {"pretraining": {"[CLS]", "tokens"}, "mlm": {"tokens"}, "replaced": {"tokens"}}
HEADS |= {"tag": {"tokens"}, "qa": {"tokens"}, "classify": {"[CLS]"}, "nsp": {"[CLS]"}}
HEADS |= {"pooler": {"[CLS]"}, "none": {"tokens"}}


@pytest.mark.parametrize("sign", ["[CLS]", "tokens"])
@pytest.mark.parametrize("heads", HEADS)
def test_the_verdict_hangs_on_what_the_heads_read(heads: str, sign: str, tmp_path: Path) -> None:
    if heads in {"tag", "qa", "classify"}:
        model = random_model(heads)
        collapse(model.module.network, sign)
        bert = bertcore.load(model.save(tmp_path / "model"), device="cpu")
    else:
        names = {"pretraining": {"pooler", "mlm", "nsp"}, "nsp": {"pooler", "nsp"}, "none": set()}
        bert = tiny_bert(heads=frozenset(names.get(heads, {heads})))
        collapse(bert.module, sign)
    found = examine(bert, TEXTS)
    other = "tokens" if sign == "[CLS]" else "[CLS]"
    assert of(found, sign) > 0.99999
    assert of(found, other) < 0.99
    assert (found.verdict == "collapsed") == (sign in HEADS[heads])
    healthy = {one.sign: one.is_healthy for one in found.findings}
    assert healthy[sign] == (sign not in HEADS[heads])
    assert healthy[other]
    text = " ".join(found.sentences())
    assert ("no head of this checkpoint reads" in text) == (sign not in HEADS[heads])
    if "mlm" not in bert.capabilities:
        assert (found.verdict == "trained") == (sign not in HEADS[heads])
        # All heads attend evenly, but nothing else is as in a fresh network.
        assert "4 of 4 heads spread theirs evenly" in text
        assert "untrained weights" not in text


def test_the_shipped_causal_checkpoint_is_trained_and_read_at_its_last_token() -> None:
    bert = bertcore.load("causal", device="cpu")
    found = examine(bert)
    assert found.verdict == "trained"  # its [CLS] sees no other token: one vector for all texts
    last = torch.stack([bert.trace(text).hidden_states[-1][-1].float() for text in PROBE_TEXTS])
    unit = torch.nn.functional.normalize(last, dim=-1)
    expected = float((unit @ unit.T).sum() - len(unit)) / (len(unit) * (len(unit) - 1))
    assert of(found, "[CLS]") == pytest.approx(expected, abs=1e-5)
    assert any(sentence.startswith("The last token: ") for sentence in found.sentences())


def test_one_reset_layer_and_head_are_named() -> None:
    bert = default()
    new = fresh(bert.config, bert.tokenizer).module
    bert.module.layers[3].load_state_dict(new.layers[3].state_dict())
    bert.module.pooler.load_state_dict(new.pooler.state_dict())  # type: ignore[union-attr]
    found = examine(bert)
    assert found.verdict == "trained"
    text = " ".join(found.sentences())
    assert "All of layer 3 look random" in text
    assert "pooler.dense.weight look random: a head that was added but not trained" in text


def test_nan_weights_end_the_examination() -> None:
    bert = tiny_bert()
    with torch.no_grad():
        bert.module.layers[0].attention.value.weight[0, 0] = torch.nan
    found = examine(bert)
    assert found.verdict == "not finite"
    assert np.isnan(found.entropies).all()
    assert found.findings == ()


@pytest.mark.parametrize("is_decoder", [False, True])
def test_even_attention_has_full_entropy(is_decoder: bool) -> None:
    config = tiny_config(is_decoder=is_decoder)
    bert = tiny_bert(config, heads=frozenset({"mlm"}))
    with torch.no_grad():
        for layer in bert.module.layers:
            layer.attention.query.weight.zero_()
            layer.attention.query.bias.zero_()
    found = examine(bert)
    np.testing.assert_allclose(found.entropies, 1, atol=1e-5)
    assert not next(one for one in found.findings if one.sign == "attention").is_healthy


@pytest.mark.parametrize(
    ("texts", "plain", "words"),
    [(["one"], (), "1 texts given"), (PROBE_TEXTS, ["One.", "Two."], "2 sentences given")],
)
def test_too_few_texts_are_refused(texts: list[str], plain: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        examine(tiny_bert(), texts, plain=plain)
