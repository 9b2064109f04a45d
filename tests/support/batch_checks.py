"""What tests look up in batches of pretraining and in gradients of their losses."""

from typing import Any

import torch

from bertcore.network import Network
from bertcore.pretraining import Batch


def originals(batch: Batch) -> torch.Tensor:
    """The token ids before any was hidden."""
    ids = batch.masked.input_ids.clone()
    for row in range(len(ids)):
        kept = batch.masked.weights[row] == 1
        ids[row, batch.masked.positions[row][kept]] = batch.masked.labels[row][kept]
    return ids


def assert_same_gradient(network: Network, loss: torch.Tensor, theirs: Any, expected: Any) -> None:
    """Make sure that our loss moves the token table as that of `transformers`' model does."""
    network.zero_grad()
    theirs.zero_grad()
    loss.backward()
    expected.loss.backward()
    ours = network.embeddings.word_embeddings.weight.grad
    reference = theirs.bert.embeddings.word_embeddings.weight.grad
    assert ours is not None
    torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-4)
