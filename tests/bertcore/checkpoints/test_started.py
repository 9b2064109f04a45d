"""What is said of the start of the checkpoints that ship, against their weights and card."""

import pytest
import torch

from bertcore import load
from bertcore.checkpoints import read_card
from bertcore.checkpoints.source import DEFAULT, SHIPPED
from bertcore.checkpoints.started import STARTED_POSITIONS, STARTED_WORDS
from bertcore.network.embeddings import sinusoids

CARD = read_card(SHIPPED[DEFAULT]) or ""


@pytest.mark.parametrize("name", SHIPPED)
def test_a_position_table_is_as_near_to_sinusoids_as_stated(name: str) -> None:
    table = load(name).module.embeddings.position_embeddings.weight.detach()
    cosine = torch.cosine_similarity(table, sinusoids(*table.shape), dim=1).mean()
    stated = f"({cosine:.2f} in `causal`)" if name == "causal" else f"mean cosine of {cosine:.2f}"
    assert stated in STARTED_POSITIONS
    assert f"{len(table)} rows" in STARTED_POSITIONS
    if name != "causal":
        assert stated in CARD


def test_the_card_names_the_start_of_the_word_vectors() -> None:
    for part in ("--start warm", "counts"):
        assert part in STARTED_WORDS
        assert part in CARD
