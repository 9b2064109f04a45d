"""What tests look up in batches of pretraining."""

import torch

from bertcore.training.pretraining import Batch


def originals(batch: Batch) -> torch.Tensor:
    """The token ids before any was hidden."""
    labels = labels_of(batch)
    return torch.where(labels == -100, batch.input_ids, labels)


def labels_of(batch: Batch) -> torch.Tensor:
    """The labels of `transformers`: the token at hidden places, -100 at others, [B, T]."""
    labels = torch.full_like(batch.input_ids, -100)
    rows, places = (batch.weights == 1).nonzero().T
    labels[rows, batch.positions[rows, places]] = batch.labels[rows, places]
    return labels
