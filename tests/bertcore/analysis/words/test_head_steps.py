"""The heads step by step: they end where the heads end."""

from pathlib import Path

import pytest
import torch

from bertcore import load
from bertcore.analysis.words.head_steps import masked_word_steps, pooler_steps
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

TEXT = "The river bank was steep."


@pytest.mark.parametrize(
    "name",
    ["RobertaForMaskedLM", "ElectraForMaskedLM", "AlbertForPreTraining", "ModernBertForMaskedLM"],
)
def test_the_words_are_those_of_the_head(name: str, tmp_path: Path) -> None:
    make(name, tmp_path)
    bert = load(tmp_path, device="cpu")
    trace = bert.trace(TEXT)
    steps = masked_word_steps(bert, trace, 2)
    with torch.no_grad():
        logits = bert.module.mlm_logits(trace.word_states[2])
    torch.testing.assert_close(steps.logits, logits, atol=1e-5, rtol=0)
    torch.testing.assert_close(steps.products + steps.biases, logits, atol=1e-5, rtol=0)
    assert float(steps.probabilities.sum()) == pytest.approx(1)
    assert len(steps.dense) == len(steps.norm) == bert.config.embedding_width


def test_the_pair_is_judged_as_by_the_head() -> None:
    bert = tiny_bert()
    trace = bert.trace(TEXT, TEXT)
    steps = pooler_steps(bert, trace)
    assert steps.kind == "nsp"
    assert steps.logits is not None
    p = float(torch.softmax(steps.logits, -1)[0])
    assert p == pytest.approx(bert.next_sentence(TEXT, TEXT).is_next, abs=1e-6)
    assert (steps.pooled.abs() <= 1).all()
    torch.testing.assert_close(torch.tanh(steps.dense), steps.pooled)


def test_an_albert_judges_the_order(tmp_path: Path) -> None:
    make("AlbertForPreTraining", tmp_path)
    bert = load(tmp_path, device="cpu")
    steps = pooler_steps(bert, bert.trace(TEXT, TEXT))
    assert steps.kind == "sop"
    assert steps.logits is not None
    p = float(torch.softmax(steps.logits, -1)[0])
    assert p == pytest.approx(bert.sentence_order(TEXT, TEXT).in_order, abs=1e-6)


def test_heads_that_are_absent_are_named() -> None:
    bare = tiny_bert(heads=frozenset({"pooler"}))
    steps = pooler_steps(bare, bare.trace(TEXT))
    assert (steps.kind, steps.logits) == ("", None)
    with pytest.raises(ValueError, match="masked-word"):
        masked_word_steps(bare, bare.trace(TEXT), 0)
    words = tiny_bert(heads=frozenset({"mlm"}))
    with pytest.raises(ValueError, match="pooler"):
        pooler_steps(words, words.trace(TEXT))
    with pytest.raises(ValueError, match="token 40"):
        masked_word_steps(words, words.trace(TEXT), 40)
