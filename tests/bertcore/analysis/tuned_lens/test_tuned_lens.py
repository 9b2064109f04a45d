"""The tuned lens: fitted as a plain optimizer would, measured with KL, kept in files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

import bertcore
from bertcore import Bert, Model
from bertcore.analysis.tuned_lens import (
    FILE_NAME,
    TunedLens,
    TunedLensSettings,
    cache_place,
    find_tuned_lens,
    fit_tuned_lens,
    place_to_save,
    read_tuned_lens,
    save_tuned_lens,
)
from bertcore.analysis.tuned_lens import fit as fitting
from bertcore.analysis.words.lens import layer_predictions, word_trajectories
from tests.support.tiny import WORDS, tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

SETTINGS = TunedLensSettings(num_steps=30, batch_size=32, learning_rate=0.02)
TEXT = "the cat [MASK] on the mat"


def sentences(count: int = 300) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 8)) for _ in range(count)]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("tiny")
    tiny_bert(tiny_config(num_hidden_layers=3)).save(folder)
    return bertcore.load(folder, device="cpu")


@pytest.fixture(scope="module")
def lens(bert: Model) -> TunedLens:
    return fit_tuned_lens(bert, sentences(), SETTINGS, text="random words")


def test_maps_of_zero_are_the_plain_lens(bert: Model, lens: TunedLens) -> None:
    zero = replace(lens, weights=lens.weights * 0, biases=lens.biases * 0)
    plain, same = (layer_predictions(bert, TEXT, tuned=each) for each in (None, zero))
    np.testing.assert_array_equal(plain.words, same.words)
    np.testing.assert_allclose(plain.probabilities, same.probabilities, atol=1e-7)
    other = layer_predictions(bert, TEXT, tuned=lens)
    assert np.abs(plain.probabilities[:-1] - other.probabilities[:-1]).max() > 1e-3
    # The last layer is the model's own answer, through either lens.
    np.testing.assert_allclose(plain.probabilities[-1], other.probabilities[-1], atol=1e-7)


@torch.no_grad()
def test_states_are_mapped_before_the_head(bert: Model, lens: TunedLens) -> None:
    states = bert.trace(TEXT).hidden_states
    found = layer_predictions(bert, TEXT, tuned=lens, top_k=1)
    path = word_trajectories(bert, TEXT, None, (), 3, ["sat"], lens)
    for layer in range(3):
        read = states[layer] + states[layer] @ lens.weights[layer].T + lens.biases[layer]
        p = torch.softmax(bert.module.mlm_logits(read), -1)
        np.testing.assert_allclose(found.probabilities[layer, :, 0], p.amax(-1), atol=1e-6)
        sat = bert.tokenizer.token_to_id("sat")
        assert path.probabilities[layer, 0] == pytest.approx(float(p[3, sat]), abs=1e-6)


def test_fitted_as_a_plain_optimizer_would(bert: Model) -> None:
    states = torch.randn(4, 50, 32, generator=torch.Generator().manual_seed(0))
    settings = replace(SETTINGS, num_steps=5)
    rng = np.random.default_rng(1)
    weights, biases = fitting._fit(bert, states, settings, rng, lambda done, stage: None)
    for layer in range(3):
        rng = np.random.default_rng(1)
        linear = torch.nn.Linear(32, 32)
        torch.nn.init.zeros_(linear.weight)
        torch.nn.init.zeros_(linear.bias)
        optimizer = torch.optim.Adam(linear.parameters(), lr=settings.learning_rate)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 5)
        for _ in range(5):
            batch = states[:, torch.from_numpy(rng.integers(0, 50, 32))]
            logits = bert.module.mlm_logits(batch[layer] + linear(batch[layer]))
            with torch.no_grad():
                end = torch.softmax(bert.module.mlm_logits(batch[-1]), -1)
            loss = F.kl_div(torch.log_softmax(logits, -1), end, reduction="batchmean")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        np.testing.assert_allclose(weights[layer], linear.weight.detach(), atol=1e-4)
        np.testing.assert_allclose(biases[layer], linear.bias.detach(), atol=1e-4)
    assert all(p.grad is None or not p.grad.abs().sum() for p in _encoder(bert))


def _encoder(bert: Model) -> list[Any]:
    assert isinstance(bert, Bert)
    return list(bert.module.layers.parameters())  # type: ignore[attr-defined]


def test_the_gain_is_kl_and_agreement_on_held_out_sentences(bert: Model) -> None:
    states = torch.randn(4, 40, 32, generator=torch.Generator().manual_seed(2))
    weights = torch.randn(3, 32, 32, generator=torch.Generator().manual_seed(3)) * 0.1
    biases = torch.zeros(3, 32)
    owners = np.repeat(np.arange(20), 2)
    gain = fitting._measure(bert, fitting._States(states, owners), weights, biases)
    with torch.no_grad():
        end = torch.log_softmax(bert.module.mlm_logits(states[-1]), -1)
        for layer in range(3):
            tuned = states[layer] + states[layer] @ weights[layer].T
            for read, quality in ((states[layer], gain.plain), (tuned, gain.tuned)):
                log_p = torch.log_softmax(bert.module.mlm_logits(read), -1)
                kl = F.kl_div(log_p, end, reduction="batchmean", log_target=True) / math.log(2)
                assert quality.bits.mean[layer] == pytest.approx(float(kl), rel=1e-4)
                agrees = (log_p.argmax(-1) == end.argmax(-1)).float().mean()
                assert quality.agreement.mean[layer] == pytest.approx(float(agrees))
    saved = gain.plain.bits.mean - gain.tuned.bits.mean
    np.testing.assert_allclose(gain.saved_bits.mean, saved, atol=1e-6)
    assert (gain.num_sentences, gain.num_tokens) == (20, 40)


def test_fitting_brings_early_layers_nearer_to_the_end(lens: TunedLens) -> None:
    assert (lens.gain.saved_bits.low[:2] > 0).all()
    assert lens.num_tokens + lens.gain.num_tokens == 300  # one of eight tokens of each sentence
    assert lens.gain.num_sentences == lens.gain.num_tokens == 60


def test_the_same_text_and_seed_give_the_same_lens(bert: Model, lens: TunedLens) -> None:
    again = fit_tuned_lens(bert, sentences(), SETTINGS)
    torch.testing.assert_close(again.weights, lens.weights)
    other = fit_tuned_lens(bert, sentences(), replace(SETTINGS, seed=1))
    assert (other.weights - lens.weights).abs().max() > 1e-4


@pytest.mark.parametrize(
    "name",
    ["RobertaForMaskedLM", "AlbertForMaskedLM", "ModernBertForMaskedLM", "DebertaV2ForMaskedLM"],
)
def test_every_family_with_a_lens_has_a_tuned_one(name: str, tmp_path: Path) -> None:
    (make_other if name.startswith("Deberta") else make)(name, tmp_path)
    model = bertcore.load(tmp_path, device="cpu")
    texts = [f"{word} the water and the house" for word in WORDS * 6]
    tuned = fit_tuned_lens(model, texts, replace(SETTINGS, num_steps=40))
    assert tuned.gain.saved_bits.mean[0] > 0
    mask = model.tokenizer.mask_token
    found = layer_predictions(model, f"The {mask} ran down.", tuned=tuned)
    plain = layer_predictions(model, f"The {mask} ran down.")
    np.testing.assert_allclose(found.probabilities[-1], plain.probabilities[-1], atol=1e-6)


def test_files_come_back_as_they_were(bert: Model, lens: TunedLens, tmp_path: Path) -> None:
    path = save_tuned_lens(lens, tmp_path / "new" / "lens.safetensors")
    again = read_tuned_lens(path, bert)
    torch.testing.assert_close(again.weights, lens.weights, rtol=0, atol=0)
    torch.testing.assert_close(again.biases, lens.biases, rtol=0, atol=0)
    assert again.gain.to_json() == lens.gain.to_json()
    for name in ("checkpoint", "fingerprint", "text", "num_tokens", "num_steps"):
        assert getattr(again, name) == getattr(lens, name)
    assert [entry.name for entry in path.parent.iterdir()] == ["lens.safetensors"]


def test_a_lens_of_another_checkpoint_is_refused_with_both_names(
    bert: Model, lens: TunedLens, tmp_path: Path
) -> None:
    path = save_tuned_lens(lens, tmp_path / "lens.safetensors")
    tiny_bert(seed=5).save(tmp_path / "other")
    other = bertcore.load(tmp_path / "other", device="cpu")
    with pytest.raises(ValueError, match="was fitted for") as caught:
        read_tuned_lens(path, other)
    assert bert.name in str(caught.value)
    assert other.name in str(caught.value)


def test_damaged_files_are_refused(bert: Model, lens: TunedLens, tmp_path: Path) -> None:
    path = tmp_path / "lens.safetensors"
    with pytest.raises(FileNotFoundError, match="bertscope tuned-lens"):
        read_tuned_lens(path)
    path.write_bytes(b"no safetensors")
    with pytest.raises(RuntimeError, match="damaged"):
        read_tuned_lens(path)
    save_file({"weights": torch.zeros(2)}, path)
    with pytest.raises(RuntimeError, match="not a tuned lens"):
        read_tuned_lens(path)
    save_tuned_lens(replace(lens, weights=lens.weights[:1]), path)
    with pytest.raises(RuntimeError, match="shapes"):
        read_tuned_lens(path, bert)
    save_tuned_lens(replace(lens, biases=lens.biases * torch.nan), path)
    with pytest.raises(RuntimeError, match="finite"):
        read_tuned_lens(path, bert)


def test_kept_beside_the_checkpoint_or_in_the_cache(
    lens: TunedLens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "own"
    tiny_bert().save(folder)
    own = bertcore.load(folder, device="cpu")
    assert find_tuned_lens(own) is None
    assert place_to_save(own) == folder / FILE_NAME
    save_tuned_lens(lens, place_to_save(own))
    assert find_tuned_lens(own) == folder / FILE_NAME
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write anywhere
    assert place_to_save(own) == cache_place(own)
    assert str(cache_place(own)).startswith(str(tmp_path / "cache"))
    own.name = "default"
    monkeypatch.undo()
    assert FILE_NAME not in str(place_to_save(own))


def test_too_little_text_is_refused(bert: Model) -> None:
    with pytest.raises(ValueError, match="longer text"):
        fit_tuned_lens(bert, sentences(20))
    with pytest.raises(ValueError, match="longer text"):
        fit_tuned_lens(bert, ["", "  "])
    headless = tiny_bert(heads=frozenset({"pooler"}))
    with pytest.raises(ValueError, match="masked-word"):
        fit_tuned_lens(headless, sentences())


@pytest.mark.parametrize(
    "wrong", [{"num_steps": 0}, {"masked_prob": 1.0}, {"learning_rate": 0.0}, {"batch_size": 0}]
)
def test_settings_are_checked(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        TunedLensSettings(**wrong)
