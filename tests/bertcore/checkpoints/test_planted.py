"""What is said of the checkpoint that ships, against its weights."""

import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis.heads.report import report_heads
from bertcore.analysis.heads.texts import bundled_sentences, bundled_trees
from bertcore.checkpoints import read_card
from bertcore.checkpoints.planted import PLANTED_HEADS, PLANTED_POSITIONS
from bertcore.checkpoints.source import DEFAULT, SHIPPED
from bertcore.network.embeddings import sinusoids

CARD = read_card(SHIPPED[DEFAULT]) or ""


@pytest.fixture(scope="module")
def shipped() -> Bert:
    return load()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_position_table_is_as_near_to_sinusoids_as_stated(name: str) -> None:
    table = load(name).module.embeddings.position_embeddings.weight.detach()
    cosine = torch.cosine_similarity(table, sinusoids(*table.shape), dim=1).mean()
    assert f"mean cosine of {cosine:.2f}" in PLANTED_POSITIONS
    assert f"mean cosine of {cosine:.2f}" in CARD


def test_the_best_heads_for_neighbours_are_the_planted_ones(shipped: Bert) -> None:
    statistics = report_heads(shipped, bundled_sentences(), bundled_trees()).statistics
    assert "four heads of layer 0" in PLANTED_HEADS
    assert shipped.config.num_attention_heads == 4
    assert statistics.best("to_previous") == (0, 0)
    assert statistics.best("to_next") == (0, 1)
    fraction = statistics.of("to_previous").mean[0, 0]
    assert f"head 0 gives {fraction:.0%} of its attention to the token before" in CARD
