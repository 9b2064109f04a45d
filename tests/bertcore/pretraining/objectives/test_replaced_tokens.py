"""Runs of replaced tokens: sharing of tables, checkpoints of both networks, the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertcore import load
from bertcore.pretraining.loss.replaced_tokens import TABLES, DeltaEmbedding, Generator
from tests.bertcore.pretraining.objectives.test_objectives import build, metrics, trained
from tests.support.command_line import make_texts, recipe, refusal, succeed, words_of
from tests.support.tiny import tiny_config

SHARINGS = ["es", "nes", "gdes"]
STEPS: dict[str, Any] = {"steps": 8, "dtype": "float32", "dropout": 0.1}


def table(network: Any, name: str) -> torch.Tensor:
    weight: torch.Tensor = getattr(network.embeddings, name).weight
    return weight.detach()


@pytest.mark.parametrize("sharing", SHARINGS)
def test_every_sharing_resumes_to_the_last_bit(tmp_path: Path, sharing: str) -> None:
    settings = {**STEPS, "embedding_sharing": sharing, "generator_size": 0.5}
    whole = build(tmp_path / "whole", "rtd", **settings)
    assert whole.run() is not None
    part = build(tmp_path / "part", "rtd", **settings)
    assert part.run(should_stop=lambda: part.progress.step == 5) is None
    again = build(tmp_path / "part", "rtd", resume=True, **settings)
    assert all(torch.equal(a, b) for a, b in zip(trained(again), trained(part), strict=True))
    assert again.run() is not None
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    assert all(torch.equal(a, b) for a, b in zip(trained(again), trained(whole), strict=True))


@pytest.mark.parametrize("sharing", SHARINGS)
def test_tables_are_shared_as_asked_for(tmp_path: Path, sharing: str) -> None:
    run = build(tmp_path, "rtd", embedding_sharing=sharing, **STEPS)
    generator, discriminator = run.companion, run.network
    assert isinstance(generator, Generator)
    for name in TABLES:
        start = table(generator, name).clone()
        own = table(discriminator, name).clone()
        assert torch.equal(own, torch.zeros_like(start) if sharing == "gdes" else start)
    run.run()
    for name in TABLES:
        ours, theirs = (getattr(net.embeddings, name) for net in (generator, discriminator))
        assert (ours is theirs) == (sharing == "es")
        assert isinstance(theirs, DeltaEmbedding) == (sharing == "gdes")
        if sharing != "es":
            assert not torch.equal(ours.weight, theirs.weight)
        assert theirs.weight.detach().abs().sum() > 0


@pytest.mark.parametrize("sharing", SHARINGS)
def test_checkpoints_open_in_transformers_with_the_same_numbers(
    tmp_path: Path, sharing: str
) -> None:
    run = build(tmp_path, "rtd", embedding_sharing=sharing, generator_size=0.5, **STEPS)
    run.run()
    folder = run.folder.checkpoints()[-1]
    ids = torch.arange(5, 25)[None]
    detector = transformers.AutoModelForPreTraining.from_pretrained(folder).eval()
    assert type(detector).__name__ == "ElectraForPreTraining"
    network = run.network.eval()
    with torch.no_grad():
        ours = network.replaced_logits(network(ids))
        torch.testing.assert_close(ours, detector(ids).logits, atol=1e-5, rtol=1e-4)
    bert = load(folder, device="cpu")
    assert not {"replaced", "parts"} & bert.absent.keys()
    guesser = transformers.AutoModelForMaskedLM.from_pretrained(folder / "generator").eval()
    assert type(guesser).__name__ == "ElectraForMaskedLM"
    assert guesser.config.hidden_size == network.config.hidden_size // 2
    generator = run.companion
    assert isinstance(generator, Generator)
    generator.eval()
    with torch.no_grad():
        ours = generator.mlm_logits(generator(ids))
        torch.testing.assert_close(ours, guesser(ids).logits, atol=1e-5, rtol=1e-4)


def test_held_out_scores_are_of_the_same_samples_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = build(tmp_path, "rtd", **STEPS)
    first, state = run.evaluate().to_dict(), torch.get_rng_state()
    assert run.evaluate().to_dict() == first
    assert torch.equal(torch.get_rng_state(), state)
    # `torch.manual_seed` seeds a Mac's GPU too, whose state must come back as well.
    restored: list[torch.Tensor] = []
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: torch.arange(3))
    monkeypatch.setattr(torch.mps, "set_rng_state", restored.append)
    run.evaluate()
    assert [state.tolist() for state in restored] == [[0, 1, 2]]
    assert first["loss"] == pytest.approx(first["generator_loss"] + 50 * first["replaced_loss"])
    assert 0 < first["share_replaced"] < 0.2
    assert 0 <= first["replaced_recall"] <= 1


def test_the_warm_start_reaches_the_generator(tmp_path: Path) -> None:
    warm, noise = (build(tmp_path / start, "rtd", start=start) for start in ("warm", "noise"))
    for run, is_warm in ((warm, True), (noise, False)):
        generator = run.companion
        assert isinstance(generator, Generator)
        bias = generator.masked_word_head().word_bias.detach()
        assert bool((bias < 0).all()) == is_warm
        if is_warm:
            assert float(bias.exp().sum()) == pytest.approx(1, abs=1e-5)


def test_wide_networks_get_narrow_embeddings(tmp_path: Path) -> None:
    run = build(tmp_path, "rtd")
    wide = run.objective.shape(tiny_config(hidden_size=256))
    assert (wide.model_type, wide.embedding_width) == ("electra", 128)
    assert run.objective.shape(tiny_config()).embedding_width == 32
    assert run.objective.shape(wide) == wide


def test_static_masks_bring_static_words(tmp_path: Path) -> None:
    """With `dupe_factor`, a row has the same masks and numbers in every batch that it is in."""
    run = build(tmp_path, "rtd", dupe_factor=1)
    seen: dict[tuple[int, ...], tuple[list[int], list[float]]] = {}
    repeated = 0
    for step in range(60):
        batch = run.batches.batch(step)
        masked = batch.words.masked  # type: ignore[attr-defined]
        originals = masked.input_ids.clone()
        for row, draws in enumerate(batch.draws.tolist()):  # type: ignore[attr-defined]
            kept = masked.weights[row] == 1
            originals[row, masked.positions[row][kept]] = masked.labels[row][kept]
            key = tuple(originals[row].tolist())
            found = (masked.positions[row].tolist(), draws)
            repeated += key in seen
            assert seen.setdefault(key, found) == found
    assert repeated > 20


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    texts = make_texts(tmp_path / "texts")
    out = tmp_path / "run"
    more = ["--objective", "rtd", "--steps", "4", *recipe(generator_size=0.5)]
    succeed(*words_of(texts, out, *more, *recipe(embedding_sharing="gdes")))
    data = json.loads((out / "config.json").read_text())["data"]
    assert (data["generator_size"], data["embedding_sharing"]) == (0.5, "gdes")
    assert (out / "checkpoints" / "step-4" / "generator" / "config.json").is_file()
    for wrong, words in (
        (["--objective", "rtd", *recipe(generator_size=2)], ("generator_size", "2.0")),
        (["--objective", "rtd", *recipe(embedding_sharing="some")], ("embedding_sharing", "gdes")),
        (["--objective", "rtd", *recipe(mask_shares="80/20/0")], ("mask_shares", "80/20/0")),
        (["--objective", "rtd", *recipe(family="roberta")], ("'rtd'", "RoBERTa")),
        (["--objective", "mlm", *recipe(generator_size=0.5)], ("generator_size", "rtd")),
        ([*recipe(embedding_sharing="gdes")], ("embedding_sharing", "rtd")),
    ):
        sentence = refusal(*words_of(texts, tmp_path / "other", "--steps", "2", *wrong))
        assert all(word in sentence for word in words), sentence
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    goes_on = [*inputs, "--out", tmp_path / "other", "--checkpoint", "default", "--steps", "2"]
    sentence = refusal("pretrain", *goes_on, "--objective", "rtd")
    assert "ELECTRA" in sentence
    assert "is BERT" in sentence


def test_a_run_goes_on_from_a_discriminator(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    make_texts(texts)
    first, second = tmp_path / "first", tmp_path / "second"
    succeed(*words_of(texts, first, "--objective", "rtd", "--steps", "2"))
    inputs = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt", "--out", second]
    start = first / "checkpoints" / "step-2"
    more = ["--checkpoint", start, "--objective", "rtd", "--max-seq-length", "24"]
    succeed("pretrain", *inputs, *more, "--steps", "1", "--batch-size", "4", "--device", "cpu")
    ours, theirs = (load(place, device="cpu") for place in (second / "data" / "start", start))
    for a, b in zip(ours.module.parameters(), theirs.module.parameters(), strict=True):
        assert torch.equal(a, b)
