"""AUL and AULA against one plain forward pass of transformers for each text; shared tokens."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.bias.crows_pairs import shared_positions, unmasked_likelihoods
from bertcore.grammar import pseudo_log_likelihoods
from bertcore.network import Network
from tests.support.tiny import tiny_bert

TEXTS = ("She sat on the mat.", "The old man bought new fish, and nobody saw it.", "It rained")


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.mark.parity
def test_scores_equal_transformers(bert: Bert, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForMaskedLM.from_pretrained(
        bert.save(tmp_path / "t"), attn_implementation="eager"
    ).eval()
    found = unmasked_likelihoods(bert, [*map(bert.tokenize, TEXTS)])
    for number, text in enumerate(TEXTS):
        ids = torch.tensor([bert.tokenize(text).input_ids])
        with torch.inference_mode():
            out = model(input_ids=ids, output_attentions=True)
        log_p = torch.log_softmax(out.logits[0].double(), -1).gather(1, ids.T)[1:-1, 0]
        received = torch.stack(out.attentions)[:, 0].mean((0, 1, 2)).double()[1:-1]
        expected = [float(log_p.mean()), float((log_p * received).mean())]
        np.testing.assert_allclose(found[:, number], expected, atol=1e-5)


def test_company_does_not_matter(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    encodings = [*map(bert.tokenize, TEXTS)]
    together = unmasked_likelihoods(bert, encodings)
    monkeypatch.setattr("bertcore.bias.crows_pairs._TOKENS_PER_BATCH", 8)
    fractions: list[float] = []
    alone = unmasked_likelihoods(bert, encodings, progress=fractions.append)
    np.testing.assert_allclose(alone, together, atol=1e-5)
    assert fractions == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_a_sentence_runs_once(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    embed = type(bert.module).embed

    def counted(network: Network, ids: torch.Tensor, *others: torch.Tensor) -> object:
        rows.append(len(ids))
        return embed(network, ids, *others)

    monkeypatch.setattr(Network, "embed", counted)
    unmasked_likelihoods(bert, [*map(bert.tokenize, TEXTS)])
    assert sum(rows) == len(TEXTS)


def test_a_text_without_tokens_has_no_score(bert: Bert) -> None:
    scores = unmasked_likelihoods(bert, [bert.tokenize(""), bert.tokenize("it rained")])
    assert np.isnan(scores[:, 0]).all()
    assert np.isfinite(scores[:, 1]).all()


def test_shared_tokens_by_hand(bert: Bert) -> None:
    first, second = bert.tokenize("the old man sat on it"), bert.tokenize("the woman sat on it")
    found = shared_positions(first, second)
    assert [
        [e.tokens[i] for i in where] for e, where in zip((first, second), found, strict=True)
    ] == [
        ["the", "sat", "on", "it"],
        ["the", "sat", "on", "it"],
    ]
    assert found[0] == [1, 4, 5, 6]
    assert found[1] == [1, 3, 4, 5]


def test_nothing_shared(bert: Bert) -> None:
    assert shared_positions(bert.tokenize("he ran"), bert.tokenize("it rained")) == ([], [])


def test_pll_of_shared_tokens_alone(bert: Bert) -> None:
    encoding = bert.tokenize("the old man sat on it")
    each = [
        pseudo_log_likelihoods(bert, [encoding], scoring="single", positions=[[i]])[0]
        for i in range(1, 7)
    ]
    some = pseudo_log_likelihoods(bert, [encoding], scoring="single", positions=[[1, 4, 5]])
    whole = pseudo_log_likelihoods(bert, [encoding], scoring="single")
    assert some[0] == pytest.approx(each[0] + each[3] + each[4], abs=1e-4)
    assert whole[0] == pytest.approx(sum(each), abs=1e-4)
