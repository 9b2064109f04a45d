"""ELECTRA's pair: the losses of transformers' two classes, sampling, and who gets gradients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch
import transformers

from bertcore.architecture.config import BertConfig
from bertcore.checkpoints import save
from bertcore.network import Network
from bertcore.pretraining import DataConfig
from bertcore.pretraining.data.batches import Batch, cut, make_batch
from bertcore.pretraining.loss.objective import BatchTensors, to_device
from bertcore.pretraining.loss.replaced_tokens import (
    DISCRIMINATOR_HEADS,
    GENERATOR_HEADS,
    TABLES,
    Generator,
    ReplacedTensors,
    ReplacedTokenPair,
    generator_shape,
    replace_tokens,
    sample_words,
    share_tables,
    whole_tables,
)
from tests.support.batch_checks import originals
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

CPU = torch.device("cpu")
TOKENIZER = tiny_tokenizer()
SHARINGS = ["es", "nes", "gdes"]


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


def test_a_lucky_guess_is_no_replacement() -> None:
    batch = given().words
    original = originals(batch_of())
    ids, is_replaced = replace_tokens(batch, batch.labels)
    assert torch.equal(ids, original)
    assert not is_replaced.any()
    other = (batch.labels + 1) % 50
    ids, is_replaced = replace_tokens(batch, other)
    assert int(is_replaced.sum()) == int(batch.weights.sum())
    assert torch.equal(ids == original, ~is_replaced)
    assert not (is_replaced & (original < 5)).any()  # special tokens and padding


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


def test_words_are_drawn_by_their_probability() -> None:
    logits = torch.tensor([0.0, 1.0, -torch.inf, 2.0])
    draws = torch.rand(20_000, generator=torch.Generator().manual_seed(0))
    words = sample_words(logits.expand(20_000, -1), draws)
    shares = torch.bincount(words, minlength=4) / 20_000
    torch.testing.assert_close(shares, logits.softmax(-1), atol=0.01, rtol=0)
    assert shares[2] == 0
    edges = sample_words(logits.expand(2, -1), torch.tensor([0.0, 1 - 2**-24]))
    assert edges.tolist() == [0, 3]


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


def test_tables_of_two_widths_are_not_shared() -> None:
    other = tiny_network(replace(shape(), embedding_size=8), heads=DISCRIMINATOR_HEADS)
    for sharing in ("es", "gdes"):
        with pytest.raises(ValueError, match=r"\(\d+, 16\).*\(\d+, 8\)"):
            share_tables(generator_of(), other, sharing)
    share_tables(generator_of(), other, "nes")
