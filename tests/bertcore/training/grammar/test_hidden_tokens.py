"""Log-probabilities at hidden places, against the whole network's answer; equal inputs run once."""

import numpy as np
import pytest
import torch

from bertcore import Bert, Model
from bertcore.model.likelihood import HiddenToken, Row, hidden_log_probabilities
from bertcore.model.network import Network
from tests.support.tiny import tiny_bert

TEXTS = ("the old [MASK] sat on it", "she [MASK]", "the river [MASK] was steep , and it rained")


def asked_of(model: Model) -> list[HiddenToken]:
    """Two tokens at the mask of each text, those of the texts mixed."""
    found = []
    for token_id in (7, 30):
        for text in TEXTS:
            encoding = model.tokenize(text.replace("[MASK]", model.tokenizer.mask_token))
            place = encoding.input_ids.index(model.tokenizer.mask_id)
            row = Row(encoding.input_ids, encoding.segment_ids)
            found.append(HiddenToken(row, place, token_id))
    return found


def by_hand(model: Model, asked: list[HiddenToken]) -> list[float]:
    """The whole network on one input at a time, the head at every token."""
    found = []
    for each in asked:
        ids, segments = (torch.tensor([values]) for values in each.row)
        with torch.inference_mode():
            logits = model.module.mlm_logits(model.module.word_states(ids, segments))
        found.append(float(torch.log_softmax(logits[0, each.position].double(), -1)[each.token_id]))
    return found


def scored(model: Model, asked: list[HiddenToken]) -> np.ndarray:
    scores = np.full(len(asked), np.nan)
    for chosen, log_p in hidden_log_probabilities(model, asked):
        scores[chosen] = log_p
    return scores


@pytest.mark.parametrize("chunk", [1, 2, 512])
def test_the_whole_network_says_the_same(
    bert: Bert, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("bertcore.model.likelihood.LOGITS_PER_CHUNK", chunk)
    asked = asked_of(bert)
    np.testing.assert_allclose(scored(bert, asked), by_hand(bert, asked), atol=1e-5)


def test_equal_inputs_run_once(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    run = Network.word_states_at

    def counted(network: Network, ids: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        rows.append(len(ids))
        return run(network, ids, *others)

    monkeypatch.setattr(Network, "word_states_at", counted)
    scored(bert, asked_of(bert))
    assert sum(rows) == len(TEXTS)


def test_causal_networks_and_drawn_masks_have_a_row_for_each_query() -> None:
    bert = tiny_bert()
    ids = torch.tensor([bert.tokenize(TEXTS[2]).input_ids] * 2)
    allowed = torch.ones(2, ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
    places = torch.tensor([3, 6])
    with torch.inference_mode():
        whole = bert.module(ids, None, allowed)
        alone = bert.module.word_states_at(ids, torch.zeros_like(ids), allowed, places)
    torch.testing.assert_close(alone, whole[[0, 1], places], atol=1e-5, rtol=1e-5)
