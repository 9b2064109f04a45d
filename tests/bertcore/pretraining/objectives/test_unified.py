"""UniLM's mixture: who may attend to whom, how often, and what each direction sees."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from bertcore.objectives import DIRECTIONS, allowed
from bertcore.pretraining.objectives import objective_named
from bertcore.pretraining.objectives.epochs import Batches
from bertcore.pretraining.objectives.masked_words import directed_mask
from tests.bertcore.pretraining.objectives.test_objectives import DATA
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

CONFIG = replace(
    DATA, objective="unilm", max_seq_length=48, max_predictions_per_seq=8, batch_size=16
)


def test_masks_are_those_of_one_row() -> None:
    batch: Any = Batches(small_corpus(), tiny_tokenizer(), CONFIG, seed=1).batch(0)
    names = list(DIRECTIONS)
    for direction in range(4):
        directions = torch.full((16,), direction)
        found = directed_mask(directions, batch.segment_ids, batch.attention_mask)
        for row in range(16):
            length = int(batch.attention_mask[row].sum())
            source = int((batch.segment_ids[row, :length] == 0).sum())
            expected = allowed(names[direction], length, source)
            np.testing.assert_array_equal(found[row, :length, :length].numpy(), expected)
            assert not found[row, :length, length:].any()
            assert found[row].any(-1).all()


def test_directions_have_the_shares_of_the_paper() -> None:
    """Chi-square at 1 in 10,000 over some 2,000 rows; runs of two and three pieces, too."""
    batches = Batches(small_corpus(400), tiny_tokenizer(), CONFIG, seed=3)
    found: list[Any] = [batches.batch(step) for step in range(120)]
    counts = torch.cat([batch.directions for batch in found]).bincount(minlength=4).numpy()
    expected = np.array(list(DIRECTIONS.values())) * counts.sum()
    assert chisquare(counts, expected).pvalue > 1e-4
    hidden = sum(int(batch.masked.weights.sum()) for batch in found)
    tokens = sum(batch.num_tokens for batch in found)
    assert hidden / tokens == pytest.approx(0.15, abs=0.02)


def test_a_guess_depends_on_what_its_direction_sees() -> None:
    """The gradient of a token's state is zero in all tokens that it may not attend to."""
    objective = objective_named("unilm")
    network = tiny_network(tiny_config())
    batch: Any = Batches(small_corpus(), tiny_tokenizer(), CONFIG, seed=1).batch(0)
    seen = set()
    for row in range(16):
        tensors = objective.tensors(
            batch.take(slice(row, row + 1)), torch.device("cpu"), keep_mask=False
        )
        hidden, mask = network.embed(tensors.input_ids, tensors.segment_ids, tensors.attention_mask)
        start = hidden.detach().requires_grad_()
        place = int(tensors.positions[0, 0])
        network.run_layers(start, mask)[0, place].sum().backward()
        reached = start.grad[0].abs().sum(-1) > 0
        may = tensors.attention_mask[0]
        # In two layers: what it sees, and what those see.
        two_steps = (may.float() @ may.float())[place] > 0
        assert not (reached & ~two_steps).any()
        assert reached[place]
        seen.add(int(batch.directions[row]))
    assert len(seen) > 2


def test_rows_with_sources_of_their_own_keep_their_direction() -> None:
    static = replace(CONFIG, dupe_factor=1)
    first: Any = Batches(small_corpus(), tiny_tokenizer(), static, seed=1).batch(0)
    part: Any = Batches(small_corpus(), tiny_tokenizer(), static, seed=1).batch(0, part=slice(4, 8))
    assert torch.equal(part.directions, first.directions[4:8])
    assert torch.equal(part.masked.input_ids, first.masked.input_ids[4:8])
