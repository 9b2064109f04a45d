"""Pseudo-log-likelihood, against one plain forward pass of transformers for each token, and
against minicons."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.model.network import ALL_HEADS
from bertcore.training.grammar import SCORINGS, Scoring, pseudo_log_likelihoods
from tests.support.minicons_peer import MiniconsPeer
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

TEXTS = (
    "The river banks was steep.",
    "It had rained.",
    "Fishers sat watering the newest houses, and nobody had bought milk.",
    "she went to the [MASK] in paris",
    "Unheard-of words: zyx, qwv!",
)


def by_hand(bert: Bert, model: torch.nn.Module, text: str, scoring: Scoring) -> float:
    """Return the sum of log-probabilities, a forward pass for each token."""
    encoding = bert.tokenize(text)
    total = 0.0
    for position, token in enumerate(encoding.tokens):
        if token in ("[CLS]", "[SEP]", "[MASK]"):
            continue
        ids = torch.tensor([encoding.input_ids])
        hidden = [position]
        if scoring == "within-word":
            word = encoding.word_ids[position]
            hidden += [i for i in range(position, len(encoding)) if encoding.word_ids[i] == word]
        ids[0, hidden] = bert.tokenizer.mask_id
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[0, position].double()
        total += float(torch.log_softmax(logits, -1)[encoding.input_ids[position]])
    return total


@pytest.mark.parity
@pytest.mark.parametrize("scoring", SCORINGS)
def test_sums_equal_transformers(bert: Bert, tmp_path: Path, scoring: Scoring) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForMaskedLM.from_pretrained(bert.save(tmp_path / "t")).eval()
    scores = pseudo_log_likelihoods(bert, [*map(bert.tokenize, TEXTS)], scoring=scoring)
    expected = [by_hand(bert, model, text, scoring) for text in TEXTS]
    np.testing.assert_allclose(scores, expected, atol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize("family", ["DistilBert", "Roberta", "Electra", "Albert"])
def test_other_families_equal_minicons(tmp_path: Path, family: str) -> None:
    make(f"{family}ForMaskedLM", tmp_path)
    peer, bert = MiniconsPeer(tmp_path), load(tmp_path, device="cpu")
    texts = ["The river bank was steep.", "It had rained all day; nobody bought watery milk!"]
    for scoring in SCORINGS:
        scores = pseudo_log_likelihoods(bert, [*map(bert.tokenize, texts)], scoring=scoring)
        np.testing.assert_allclose(scores, peer.scores(texts, scoring), atol=1e-4)


def test_company_does_not_matter(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    encodings = [*map(bert.tokenize, TEXTS)] * 3
    together = pseudo_log_likelihoods(bert, encodings)
    alone = [pseudo_log_likelihoods(bert, [encoding])[0] for encoding in encodings]
    np.testing.assert_allclose(together, alone, atol=1e-4)
    monkeypatch.setattr("bertcore.model.likelihood.TOKENS_PER_BATCH", 20)
    monkeypatch.setattr("bertcore.model.likelihood._ENCODINGS_AT_ONCE", 2)
    np.testing.assert_allclose(pseudo_log_likelihoods(bert, encodings), alone, atol=1e-4)


def test_a_checkpoint_without_the_head_is_refused() -> None:
    bert = tiny_bert(heads=ALL_HEADS - {"mlm"})
    with pytest.raises(ValueError, match="no masked-word"):
        pseudo_log_likelihoods(bert, [bert.tokenize("the river")])
