"""UniLM's mixture: who may attend to whom, how often, and what each direction sees."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from bertcore.model.objectives import DIRECTIONS, allowed
from bertcore.training.pretraining import Batch, Batches, pretraining_loss
from bertcore.training.pretraining.data.layout import lay_out
from bertcore.training.pretraining.objectives.masked_words import directed_mask
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_runs import DATA

CONFIG = replace(
    DATA, objective="unilm", max_seq_length=48, max_predictions_per_seq=8, batch_size=16
)


def test_masks_are_those_of_one_row() -> None:
    corpus, tokenizer = small_corpus(), tiny_tokenizer()
    batches = Batches(corpus, tokenizer, CONFIG, seed=1)
    batch, names = batches.batch(0), list(DIRECTIONS)
    rows = lay_out(corpus, batches._instances_at(0), tokenizer, 48)
    for direction in range(4):
        found = directed_mask(torch.full((16,), direction), rows)
        for row in range(16):
            length = int(batch.attention_mask[row].sum())
            source = int((batch.segment_ids[row, :length] == 0).sum())
            expected = allowed(names[direction], length, source)
            np.testing.assert_array_equal(found[row, :length, :length].numpy(), expected)
            assert not found[row, :length, length:].any()
            assert found[row].any(-1).all()


def direction_of(batch: Batch, row: int) -> int:
    """Return which direction the mask of a row has."""
    length = int(batch.attention_mask[row].sum())
    mask = batch.allowed[row, :length, :length].numpy()
    source = int((batch.segment_ids[row, :length] == 0).sum())
    return [np.array_equal(mask, allowed(n, length, source)) for n in DIRECTIONS].index(True)


def test_directions_have_the_shares_of_the_paper() -> None:
    """Chi-square at 1 in 10,000 over some 2,000 rows; runs of two and three pieces, too."""
    batches = Batches(small_corpus(400), tiny_tokenizer(), CONFIG, seed=3)
    found: list[Any] = [batches.batch(step) for step in range(120)]
    counts = torch.tensor([direction_of(batch, row) for batch in found for row in range(16)])
    counts = counts.bincount(minlength=4).numpy()
    expected = np.array(list(DIRECTIONS.values())) * counts.sum()
    assert chisquare(counts, expected).pvalue > 1e-4
    hidden = sum(int(batch.weights.sum()) for batch in found)
    tokens = sum(batch.num_tokens for batch in found)
    assert hidden / tokens == pytest.approx(0.15, abs=0.02)


def test_the_loss_is_computed_under_the_masks() -> None:
    network = tiny_network(tiny_config())
    batch = Batches(small_corpus(), tiny_tokenizer(), CONFIG, seed=1).batch(0)
    tensors = batch.to(torch.device("cpu"))
    limited = pretraining_loss(network, tensors)["loss"]
    own = {**tensors, "attention_mask": tensors.pop("allowed")}
    torch.testing.assert_close(limited, pretraining_loss(network, own)["loss"])
    assert not torch.allclose(limited, pretraining_loss(network, tensors)["loss"])


def test_rows_with_sources_of_their_own_keep_their_direction() -> None:
    static = replace(CONFIG, dupe_factor=1)
    first: Any = Batches(small_corpus(), tiny_tokenizer(), static, seed=1).batch(0)
    part: Any = Batches(small_corpus(), tiny_tokenizer(), static, seed=1).batch(0, part=slice(4, 8))
    assert torch.equal(part.allowed, first.allowed[4:8])
    assert torch.equal(part.input_ids, first.input_ids[4:8])
