"""Runs of replaced tokens: sharing of tables, checkpoints of both networks, the command line."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
import transformers

from bertcore import load
from bertcore.architecture.config import BertConfig
from bertcore.checkpoints import save
from bertcore.network import Network
from bertcore.pretraining import DataConfig
from bertcore.pretraining.data.batches import Batch, cut, make_batch
from bertcore.pretraining.loss import BatchTensors, to_device
from bertcore.pretraining.objectives.replaced_tokens import (
    DISCRIMINATOR_HEADS,
    GENERATOR_HEADS,
    TABLES,
    DeltaEmbedding,
    Generator,
    ReplacedTensors,
    ReplacedTokenPair,
    generator_shape,
    share_tables,
    whole_tables,
)
from tests.bertcore.pretraining.objectives.test_objectives import build, metrics, trained
from tests.support.batch_checks import originals
from tests.support.command_line import make_texts, succeed, words_of
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

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
    weights = tiny_network(config, heads=GENERATOR_HEADS, seed=1).state_dict()
    generator.load_state_dict(weights)
    return generator


def pair_of(sharing: str) -> ReplacedTokenPair:
    """A pair with every weight random, differences of tables included."""
    generator = generator_of()
    discriminator = tiny_network(shape(), heads=DISCRIMINATOR_HEADS, seed=2)
    share_tables(generator, discriminator, sharing)
    pair = ReplacedTokenPair(generator, discriminator)
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
    return make_batch(corpus, chosen, TOKENIZER, config, generator=generator)


def given(rows: int = 6) -> ReplacedTensors:
    batch = to_device(batch_of(rows), CPU)
    draws = torch.rand(batch.positions.shape, generator=torch.Generator().manual_seed(3))
    return ReplacedTensors(batch, draws)


@pytest.mark.parity
@pytest.mark.parametrize("sharing", SHARINGS)
def test_both_losses_are_those_of_transformers(sharing: str, tmp_path: Path) -> None:
    pair, tensors = pair_of(sharing), given()
    batch, draws = tensors
    assert batch.attention_mask is not None  # padding, which must not count
    found = pair(tensors)

    folder = save(pair.generator, TOKENIZER, tmp_path / "generator")
    masked_words = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    assert type(masked_words).__name__ == "ElectraForMaskedLM"
    labels = torch.full_like(batch.input_ids, -100)
    for row in range(len(labels)):
        kept = batch.weights[row] == 1
        labels[row, batch.positions[row][kept]] = batch.labels[row][kept]
    inputs = {"token_type_ids": batch.segment_ids, "attention_mask": batch.attention_mask}
    theirs = masked_words(input_ids=batch.input_ids, labels=labels, **inputs)
    assert float(found.mlm_loss) == pytest.approx(float(theirs.loss.detach()), abs=1e-5)
    hidden = labels != -100
    right = (theirs.logits.argmax(-1) == labels)[hidden].sum()
    assert (int(found.mlm_correct), int(found.num_masked)) == (int(right), int(hidden.sum()))

    # The guesses, from their logits: each place on its own.
    original = originals(batch_of())
    corrupted = original.clone()
    for row, number in (batch.weights == 1).nonzero().tolist():
        place = batch.positions[row, number]
        cumulative = theirs.logits[row, place].double().softmax(-1).cumsum(-1)
        corrupted[row, place] = int((cumulative <= float(draws[row, number])).sum())
    assert len(whole_tables_of(pair)) == (3 if sharing == "gdes" else 0)
    folder = save(
        pair.discriminator,
        TOKENIZER,
        tmp_path / "discriminator",
        more_weights={f"electra.{name}": table for name, table in whole_tables_of(pair)},
    )
    detector = transformers.AutoModelForPreTraining.from_pretrained(folder).eval()
    assert type(detector).__name__ == "ElectraForPreTraining"
    is_replaced = corrupted != original
    judged = detector(input_ids=corrupted, labels=is_replaced.long(), **inputs)
    assert float(found.replaced_loss) == pytest.approx(float(judged.loss.detach()), abs=1e-5)
    assert float(found.loss.detach()) == pytest.approx(
        float(theirs.loss.detach()) + 50 * float(judged.loss.detach()), abs=1e-4
    )
    assert int(found.num_replaced) == int(is_replaced.sum()) > 0
    kept = batch.attention_mask.bool()
    found_them = ((judged.logits > 0) & is_replaced).sum()
    assert int(found.num_found) == int(found_them)
    agree = ((judged.logits > 0) == is_replaced)[kept].sum()
    assert int(found.replaced_correct) == int(agree)
    assert int(found.num_tokens) == int(kept.sum())


def whole_tables_of(pair: ReplacedTokenPair) -> list[tuple[str, torch.Tensor]]:
    return list(whole_tables(pair.discriminator))


@pytest.mark.parametrize("sharing", SHARINGS)
def test_each_loss_trains_its_own_part(sharing: str) -> None:
    pair, tensors = pair_of(sharing), given()
    discriminator = set(pair.discriminator.parameters())
    generator = set(pair.generator.parameters()) - set(pair.generator.deltas.parameters())
    shared = generator & discriminator
    assert len(shared) == (3 if sharing == "es" else 0)
    assert len(set(pair.parameters())) == len(generator) + len(discriminator) - len(shared)
    for parameter in generator:
        parameter.requires_grad_(False)
    if sharing == "es":
        discriminator -= shared
    pair(tensors).loss.backward()
    assert all(parameter.grad is not None for parameter in discriminator)
    pair.generator.requires_grad_(True)
    pair.zero_grad()
    # No gradient passes from the discriminator to the generator: neither through the samples, nor,
    # but for "es", through the tables.
    _generator_loss(pair, tensors.words).backward()
    expected = {parameter: parameter.grad.clone() for parameter in generator}
    pair.zero_grad()
    pair(tensors).loss.backward()
    for parameter in generator:
        is_same = torch.allclose(parameter.grad, expected[parameter], atol=1e-6, rtol=1e-4)
        assert is_same == (parameter not in shared)


def _generator_loss(pair: ReplacedTokenPair, batch: BatchTensors) -> torch.Tensor:
    hidden = pair.generator(batch.input_ids, batch.segment_ids, batch.attention_mask)
    logits = pair.generator.mlm_logits(hidden)
    kept = batch.weights == 1
    rows = torch.arange(len(kept))[:, None].expand_as(kept)[kept]
    return torch.nn.functional.cross_entropy(
        logits[rows, batch.positions[kept]], batch.labels[kept]
    )


def test_gdes_begins_as_es_and_its_table_is_the_sum() -> None:
    found = []
    for sharing in ("es", "gdes"):
        generator = generator_of()
        discriminator = tiny_network(shape(), heads=DISCRIMINATOR_HEADS, seed=2)
        share_tables(generator, discriminator, sharing)
        found.append(ReplacedTokenPair(generator, discriminator).eval()(given()))
    torch.testing.assert_close(found[0].replaced_loss, found[1].replaced_loss, atol=0, rtol=0)
    pair = pair_of("gdes")
    for name, table in whole_tables_of(pair):
        own = name.removeprefix("embeddings.").removesuffix(".weight")
        base = getattr(pair.generator.embeddings, own).weight
        difference = getattr(pair.discriminator.embeddings, own).weight
        torch.testing.assert_close(table, base + difference)
        assert float(difference.detach().abs().sum()) > 0


def test_the_parts_of_a_batch_sum_to_it() -> None:
    pair, tensors = pair_of("es"), given()
    whole = pair(tensors)
    parts = []
    for rows in (slice(0, 2), slice(2, 6)):
        fields = {
            name: value[rows]
            for name, value in tensors.words._asdict().items()
            if value is not None and value.dim()
        }
        parts.append(pair(ReplacedTensors(tensors.words._replace(**fields), tensors.draws[rows])))
    for name, value in whole._asdict().items():
        total = sum(float(getattr(part, name).detach()) for part in parts)
        assert total == pytest.approx(float(value.detach()), rel=1e-5), name


def test_generators_are_narrower() -> None:
    base = replace(shape(), hidden_size=256)
    quarter = generator_shape(base, 0.25)
    assert (quarter.hidden_size, quarter.num_attention_heads) == (64, 1)
    assert (quarter.intermediate_size, quarter.num_hidden_layers) == (256, 2)
    assert generator_shape(base, 1.0).hidden_size == 256
    wide = replace(base, embedding_size=None)
    assert generator_shape(wide, 0.25).embedding_size == 256
    assert Network(generator_shape(base, 0.0625)).embeddings.projection is None  # E = D = 16
    for wrong in (0, -1, 1.5):
        with pytest.raises(ValueError, match=r"generator_size"):
            generator_shape(base, wrong)
