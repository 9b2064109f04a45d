"""Optimisers: who is updated by what, which weights decay, and the schedule."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.model.loading import load
from bertcore.training.engine.optimizer import build_optimizers, set_rate
from bertcore.training.pretraining import OptimizerConfig
from tests.support.cases import cases
from tests.support.tiny import tiny_network
from tests.support.tiny_others import make_other


@pytest.mark.parametrize(("warmup", "flat"), [(0.05, 0.4), (0.0, 0.0), (0.0, 1.0), (1.0, 0.0)])
def test_the_rate_rises_stays_and_falls_linearly(warmup: float, flat: float) -> None:
    config = OptimizerConfig(warmup_ratio=warmup, flat_ratio=flat)
    steps = 1000
    rates = [config.rate_at(step / steps) for step in range(steps)]
    assert all(0 <= rate <= 1 for rate in rates)
    rise, top = round(warmup * steps), round((warmup + flat) * steps)
    for step, rate in enumerate(rates):
        if step < rise:
            expected = step / rise
        elif step <= top:
            expected = 1.0
        else:
            expected = (steps - step) / (steps - top)
        assert rate == pytest.approx(expected, abs=1e-9)
    assert rates[-1] > 0  # the last step still learns
    assert math.isfinite(config.rate_at(1.3))  # a clock may pass its end


def test_biases_that_are_matrices_do_not_decay(tmp_path: Path) -> None:
    """XLNet's biases of queries; T5's relative_attention_bias is a table of embeddings."""
    for model, decays in (("XLNetLMHeadModel", False), ("T5ForConditionalGeneration", True)):
        make_other(model, tmp_path / model)
        network: Any = load(tmp_path / model, device="cpu").module
        (adamw,) = build_optimizers(network, OptimizerConfig(optimizer="adamw"), dtype="float32")
        decayed = {id(p) for p in adamw.param_groups[0]["params"]}
        names = {
            name: id(parameter) in decayed
            for name, parameter in network.named_parameters()
            if parameter.dim() > 1 and "bias" in name
        }
        assert names
        assert set(names.values()) == {decays}, names


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_every_weight_has_one_optimizer_and_only_matrices_decay(optimizer: str) -> None:
    network = tiny_network()
    built = build_optimizers(
        network, OptimizerConfig(optimizer=optimizer, weight_decay=0.03), dtype="float32"
    )
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    seen = []
    for each in built:
        for group in each.param_groups:
            for parameter in group["params"]:
                name = names[id(parameter)]
                seen.append(name)
                no_decay = "bias" in name or "norm" in name
                assert group["weight_decay"] == (0.0 if no_decay else 0.03), name
                is_matrix_of_layer = name.startswith("layers.") and parameter.dim() == 2
                uses_muon = optimizer == "muon" and is_matrix_of_layer
                assert isinstance(each, torch.optim.Muon) == uses_muon, name
    assert sorted(seen) == sorted(names.values())


def test_the_rate_is_a_share_of_each_peak() -> None:
    config = OptimizerConfig(learning_rate=1e-3, muon_learning_rate=4e-3)
    built = build_optimizers(tiny_network(), config, dtype="float32")
    for share in (0.5, 0.0, 1.0, 0.25):
        set_rate(built, share)
        rates = [{group["lr"] for group in each.param_groups} for each in built]
        assert rates == [{4e-3 * share}, {1e-3 * share}]


@pytest.mark.parametrize(("change", "message"), cases("wrong_optimizer_settings"))
def test_wrong_settings_get_a_sentence(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OptimizerConfig(**change)  # type: ignore[arg-type]
