"""Scores that add up, and the loss of words in chunks."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bertcore import Bert, load
from bertcore.model.network import ALL_HEADS
from bertcore.training.pretraining import (
    Batch,
    DataConfig,
    evaluate_pretraining,
    fixed_batches,
    pack_corpus,
    pretraining_loss,
)
from bertcore.training.pretraining.evaluation import characters_of
from bertcore.training.pretraining.loss import word_loss, word_loss_in_chunks
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_network, tiny_tokenizer
from tests.support.tiny_families import byte_level_bpe, make, unigram

CPU = torch.device("cpu")
CONFIG = DataConfig(max_seq_length=32, max_predictions_per_seq=6, batch_size=8)
TOKENIZER = tiny_tokenizer()


def batches(num_rows: int = 24) -> list[Batch]:
    return list(fixed_batches(small_corpus(), TOKENIZER, CONFIG, seed=0, num_rows=num_rows))


def test_padded_predictions_have_no_weight() -> None:
    network, batch = tiny_network(), batches()[0]
    before = pretraining_loss(network, batch.to(CPU))
    empty = batch.weights == 0
    assert empty.any()
    changed = {
        "labels": torch.where(empty, 7, batch.labels),
        "positions": torch.where(empty, 3, batch.positions),
    }
    after = pretraining_loss(network, {**batch.to(CPU), **changed})
    torch.testing.assert_close(after["loss"], before["loss"], atol=1e-6, rtol=0)
    assert float(after["mlm_correct"]) == float(before["mlm_correct"])


def test_label_1_means_random() -> None:
    """A head that always says the second class is right exactly where B is random."""
    network = tiny_network()
    with torch.no_grad():
        network.nsp.classifier.weight.zero_()
        network.nsp.classifier.bias.copy_(torch.tensor([-20.0, 20.0]))
    scores = evaluate_pretraining(network, batches(), TOKENIZER)
    assert scores.nsp_accuracy == pytest.approx(scores.share_random)
    assert 0.3 < scores.share_random < 0.9
    bert = Bert(network, TOKENIZER)
    assert bert.next_sentence("the dog sat", "it had rained").not_next > 0.999


def test_scores_are_means_over_all_batches() -> None:
    network, parts = tiny_network(), batches(20)
    results = [pretraining_loss(network, batch.to(CPU)) for batch in parts]
    num = sum(float(result["num_masked"]) for result in results)
    scores = evaluate_pretraining(network, parts, TOKENIZER)
    loss = sum(float(result["mlm_loss"] * result["num_masked"]) for result in results) / num
    assert scores.mlm_loss == pytest.approx(loss, abs=1e-6)
    assert scores.mlm_top1 == sum(float(result["mlm_correct"]) for result in results) / num
    rows = [len(batch.next_sentence_labels) for batch in parts]
    assert scores.num_pairs == sum(rows) == 20
    nsp = sum(float(r["nsp_loss"]) * n for r, n in zip(results, rows, strict=True)) / 20
    assert scores.nsp_loss == pytest.approx(nsp, abs=1e-6)
    hidden = [
        TOKENIZER.vocab[id] for batch in parts for id in batch.labels[batch.weights == 1].tolist()
    ]
    assert scores.num_masked == len(hidden) == num
    characters = sum(len(t) - 2 if t.startswith("##") else len(t) + 1 for t in hidden)
    assert scores.bits_per_character == pytest.approx(loss * num / math.log(2) / characters)


@pytest.mark.parametrize(
    ("kind", "fast", "text"),
    [
        ("byte-level BPE", byte_level_bpe(), "café 猫, ñandú: the river"),
        ("Unigram", unigram(albert=False), "the dog had milk"),
    ],
)
def test_characters_of_the_tokens_of_a_text_sum_to_its_own(kind: str, fast: Any, text: str) -> None:
    """A space before the first word, where the tokenizer sets one, counts."""
    tokens = fast.encode(text, add_special_tokens=False).tokens
    assert "<unk>" not in tokens
    found = sum(characters_of(token, kind) for token in tokens)
    assert found == len(text) + tokens[0].startswith(("Ġ", "▁"))


def test_an_unknown_token_of_another_name_is_two_characters(tmp_path: Path) -> None:
    make("AlbertForMaskedLM", tmp_path)
    bert = load(tmp_path, device="cpu")
    config = DataConfig(objective="mlm", max_seq_length=24, batch_size=8)
    corpus = pack_corpus([["the dog 猫 had milk 猫"]] * 9, bert.tokenizer)
    parts = list(fixed_batches(corpus, bert.tokenizer, config, seed=0, num_rows=8))
    scores = evaluate_pretraining(bert.module, parts, bert.tokenizer)
    tokens = [
        bert.tokenizer.vocab[id] for part in parts for id in part.labels[part.weights == 1].tolist()
    ]
    assert 0 < scores.num_unknown == tokens.count("<unk>") < len(tokens)
    characters = sum(2 if token == "<unk>" else len(token) for token in tokens)
    bits = scores.mlm_loss * scores.num_masked / math.log(2)
    assert scores.bits_per_character == pytest.approx(bits / characters)


def test_without_batches_or_heads_there_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="gives no row"):
        evaluate_pretraining(tiny_network(), [], TOKENIZER)
    headless = tiny_network(heads=ALL_HEADS - {"mlm"})
    with pytest.raises(ValueError, match="no masked-word"):
        evaluate_pretraining(headless, batches(8), TOKENIZER)


V, D = 300, 16


def drawn(num: int, *, spread: float = 1.0) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(num)
    vectors, table = (torch.randn(n, D, generator=generator) for n in (num, V))
    bias = torch.randn(V, generator=generator)
    labels = torch.randint(0, V, (num,), generator=generator)
    shares = torch.rand(num, generator=generator) / num
    shares[4::5] = 0  # padding
    # Numbers that bfloat16 holds exactly, so that only the results are rounded.
    exact = [(x * spread).bfloat16().float().requires_grad_() for x in (vectors, table, bias)]
    return exact[0], exact[1], exact[2], labels, shares


def test_the_plain_loss_is_weighted_cross_entropy() -> None:
    vectors, table, bias, labels, shares = drawn(50)
    loss, right = word_loss(vectors, table, bias, labels, shares)
    logits = vectors @ table.T + bias
    expected = (F.cross_entropy(logits, labels, reduction="none") * shares).sum()
    torch.testing.assert_close(loss, expected)
    assert torch.equal(right, logits.argmax(-1) == labels)


@pytest.mark.parametrize(("num", "factor"), [(1, 1.0), (32, 4.0), (33, 1.0), (100, 4.0)])
def test_chunks_give_the_same_loss_and_gradients(num: int, factor: float) -> None:
    ours, theirs = drawn(num), drawn(num)
    found, right = word_loss_in_chunks(*ours)
    expected, expected_right = word_loss(*theirs)
    assert float(found.detach()) == pytest.approx(float(expected.detach()), rel=0.01)
    assert float((right == expected_right).float().mean()) > 0.9  # ties of rounded logits
    (found * factor).backward()
    (expected * factor).backward()
    for mine, other in zip(ours[:3], theirs[:3], strict=True):
        assert mine.grad.dtype == torch.float32
        assert float((mine.grad - other.grad).norm()) < 0.02 * float(other.grad.norm())


def test_large_logits_stay_finite() -> None:
    vectors, table, bias, labels, shares = drawn(40, spread=30.0)
    loss, _ = word_loss_in_chunks(vectors, table, bias, labels, shares)
    loss.backward()
    assert torch.isfinite(loss)
    for leaf in (vectors, table, bias):
        assert leaf.grad is not None
        assert bool(torch.isfinite(leaf.grad).all())
    expected, _ = word_loss(vectors, table, bias, labels, shares)
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=0.01)
