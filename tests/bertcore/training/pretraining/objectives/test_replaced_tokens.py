"""Runs of replaced tokens: sharing of tables, checkpoints of both networks, the command line."""

from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import transformers

from bertcore import BertConfig, load
from bertcore.model.checkpoints import save
from bertcore.training.pretraining import Batch, DataConfig
from bertcore.training.pretraining.data.batches import BatchSource, cut, make_batch
from bertcore.training.pretraining.objectives.replaced_tokens import (
    TABLES,
    DeltaEmbedding,
    Generator,
    ReplacedTokenPair,
    generator_shape,
    share_tables,
    whole_tables,
)
from tests.support.batch_checks import labels_of, originals
from tests.support.command_line import metrics
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_runs import assert_same_weights, build

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
    assert_same_weights(again, part)
    assert again.run() is not None
    assert metrics(tmp_path / "part") == metrics(tmp_path / "whole")
    assert_same_weights(again, whole)


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


def test_held_out_scores_are_of_the_same_samples_each_time(tmp_path: Path) -> None:
    run = build(tmp_path, "rtd", **STEPS)
    first, state = run.evaluate().to_dict(), torch.get_rng_state()
    assert run.evaluate().to_dict() == first
    assert torch.equal(torch.get_rng_state(), state)
    assert first["loss"] == pytest.approx(first["generator_loss"] + 50 * first["replaced_loss"])


def test_the_warm_start_reaches_the_generator(tmp_path: Path) -> None:
    warm, noise = (build(tmp_path / start, "rtd", start=start) for start in ("warm", "noise"))
    for run, is_warm in ((warm, True), (noise, False)):
        generator = run.companion
        assert isinstance(generator, Generator)
        bias = generator.masked_word_head().word_bias.detach()
        assert bool((bias < 0).all()) == is_warm
        if is_warm:
            assert float(bias.exp().sum()) == pytest.approx(1, abs=1e-5)


def test_a_run_goes_on_from_a_discriminator(tmp_path: Path) -> None:
    first = build(tmp_path / "first", "rtd", steps=2)
    first.run()
    bert: Any = load(first.folder.checkpoints()[-1], device="cpu")
    start: dict[str, Any] = {"start": "checkpoint", "start_from": bert.module}
    second = build(tmp_path / "second", "rtd", shape=bert.config, **start)
    for ours, theirs in zip(second.network.parameters(), bert.module.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    with pytest.raises(ValueError, match="continues from an ELECTRA discriminator"):
        build(tmp_path / "third", "rtd", start="checkpoint", start_from=tiny_network())


CPU = torch.device("cpu")
TOKENIZER = tiny_tokenizer()


def shape() -> BertConfig:
    return tiny_config(
        model_type="electra",
        embedding_size=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def generator_of() -> Generator:
    config = generator_shape(shape(), 0.5)
    generator = Generator(config)
    weights = tiny_network(config, heads=frozenset({"mlm"}), seed=1).state_dict()
    generator.load_state_dict(weights)
    return generator


def pair_of(sharing: str) -> ReplacedTokenPair:
    """A pair with every weight random, differences of tables included."""
    generator = generator_of()
    discriminator = tiny_network(shape(), heads=frozenset({"replaced"}), seed=2)
    share_tables(generator, discriminator, sharing)
    pair = ReplacedTokenPair(discriminator, generator)
    if sharing == "gdes":
        with torch.no_grad():
            for name in TABLES:
                getattr(discriminator.embeddings, name).weight.normal_(0, 0.1)
    return pair.eval()


def batch_of(rows: int = 6) -> Batch:
    config = DataConfig(objective="mlm", max_seq_length=24, max_predictions_per_seq=5, batch_size=6)
    corpus = small_corpus(20)
    found = cut(corpus, config, rng=Random(0))
    last = len(found)  # the last row has padding
    generator = torch.Generator().manual_seed(0)
    chosen = found.take(slice(last - rows, last))
    return make_batch(BatchSource(corpus, chosen, TOKENIZER, config, generator))


def given() -> dict[str, torch.Tensor]:
    batch = batch_of()
    draws = torch.rand(batch.positions.shape, generator=torch.Generator().manual_seed(3))
    return {**batch.to(CPU), "draws": draws}


@pytest.mark.parity
@pytest.mark.parametrize("sharing", SHARINGS)
def test_both_losses_are_those_of_transformers(sharing: str, tmp_path: Path) -> None:
    pair, batch, tensors = pair_of(sharing), batch_of(), given()
    draws = tensors["draws"]
    assert "attention_mask" in tensors  # padding, which must not count
    found = pair(tensors)

    folder = save(pair.companion, TOKENIZER, tmp_path / "generator")
    masked_words = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    assert type(masked_words).__name__ == "ElectraForMaskedLM"
    labels = labels_of(batch)
    inputs = {"token_type_ids": batch.segment_ids, "attention_mask": batch.attention_mask}
    theirs = masked_words(input_ids=batch.input_ids, labels=labels, **inputs)
    assert float(found["mlm_loss"]) == pytest.approx(float(theirs.loss.detach()), abs=1e-5)
    hidden = labels != -100
    right = (theirs.logits.argmax(-1) == labels)[hidden].sum()
    assert (int(found["mlm_correct"]), int(found["num_masked"])) == (int(right), int(hidden.sum()))

    # The guesses, from their logits: each place on its own.
    original = originals(batch_of())
    corrupted = original.clone()
    for row, number in (batch.weights == 1).nonzero().tolist():
        place = batch.positions[row, number]
        cumulative = theirs.logits[row, place].double().softmax(-1).cumsum(-1)
        corrupted[row, place] = int((cumulative <= float(draws[row, number])).sum())
    assert len(whole_tables_of(pair)) == (3 if sharing == "gdes" else 0)
    folder = save(
        pair.network,
        TOKENIZER,
        tmp_path / "discriminator",
        more_weights={f"electra.{name}": table for name, table in whole_tables_of(pair)},
    )
    detector = transformers.AutoModelForPreTraining.from_pretrained(folder).eval()
    assert type(detector).__name__ == "ElectraForPreTraining"
    is_replaced = corrupted != original
    judged = detector(input_ids=corrupted, labels=is_replaced.long(), **inputs)
    assert float(found["replaced_loss"]) == pytest.approx(float(judged.loss.detach()), abs=1e-5)
    assert float(found["loss"].detach()) == pytest.approx(
        float(theirs.loss.detach()) + 50 * float(judged.loss.detach()), abs=1e-4
    )
    assert int(found["num_replaced"]) == int(is_replaced.sum()) > 0
    kept = batch.attention_mask.bool()
    found_them = ((judged.logits > 0) & is_replaced).sum()
    assert int(found["num_found"]) == int(found_them)
    agree = ((judged.logits > 0) == is_replaced)[kept].sum()
    assert int(found["replaced_correct"]) == int(agree)
    assert int(found["num_tokens"]) == int(kept.sum())


def whole_tables_of(pair: ReplacedTokenPair) -> list[tuple[str, torch.Tensor]]:
    return list(whole_tables(pair.network))


@pytest.mark.parametrize("sharing", SHARINGS)
def test_each_loss_trains_its_own_part(sharing: str) -> None:
    pair, tensors = pair_of(sharing), given()
    discriminator = set(pair.network.parameters())
    generator = set(pair.companion.parameters()) - set(pair.companion.deltas.parameters())
    shared = generator & discriminator
    assert len(shared) == (3 if sharing == "es" else 0)
    assert len(set(pair.parameters())) == len(generator) + len(discriminator) - len(shared)
    for parameter in generator:
        parameter.requires_grad_(False)
    if sharing == "es":
        discriminator -= shared
    pair(tensors)["loss"].backward()
    assert all(parameter.grad is not None for parameter in discriminator)
    pair.companion.requires_grad_(True)
    pair.zero_grad()
    # No gradient passes from the discriminator to the generator: neither through the samples, nor,
    # but for "es", through the tables.
    _generator_loss(pair, batch_of()).backward()
    expected = {parameter: parameter.grad.clone() for parameter in generator}
    pair.zero_grad()
    pair(tensors)["loss"].backward()
    for parameter in generator:
        is_same = torch.allclose(parameter.grad, expected[parameter], atol=1e-6, rtol=1e-4)
        assert is_same == (parameter not in shared)


def _generator_loss(pair: ReplacedTokenPair, batch: Batch) -> torch.Tensor:
    hidden = pair.companion(batch.input_ids, batch.segment_ids, batch.attention_mask)
    logits = pair.companion.mlm_logits(hidden)
    kept = batch.weights == 1
    rows = torch.arange(len(kept))[:, None].expand_as(kept)[kept]
    return torch.nn.functional.cross_entropy(
        logits[rows, batch.positions[kept]], batch.labels[kept]
    )


def test_gdes_begins_as_es() -> None:
    found = []
    for sharing in ("es", "gdes"):
        generator = generator_of()
        discriminator = tiny_network(shape(), heads=frozenset({"replaced"}), seed=2)
        share_tables(generator, discriminator, sharing)
        found.append(ReplacedTokenPair(discriminator, generator).eval()(given()))
    torch.testing.assert_close(found[0]["replaced_loss"], found[1]["replaced_loss"], atol=0, rtol=0)
