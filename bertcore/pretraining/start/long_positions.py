"""Extend the position table to long rows: vectors that no short row has trained."""

from __future__ import annotations

import torch
from torch import Tensor

from bertcore.network.embeddings import sinusoids

RIDGE = 0.03
"""Of the mean squared length of a sinusoid; EXPERIMENTS.md has what other values gave."""
_FIRST = 16
"""The places before are left out of the fit: they have learned what is special at the start."""


@torch.no_grad()
def extend_positions(table: Tensor, num_trained: int) -> int:
    """Give the places after `num_trained` what training has made of the places before.

    The warm start gives each place a sinusoid, and short rows then train the first ones only: when
    long rows come, the network reads the others as something strange. So the change from sinusoid
    to learned vector is fitted on the trained places (ridge regression) and applied to the others.
    Places that are not as the warm start left them have been trained, and stay.

    Args:
        table: Position embeddings, [P, D]; changed in place.
        num_trained: Places that short rows have.

    Returns:
        The number of places that were changed.

    Source: ours.
    """
    start = sinusoids(*table.shape).to(table)
    learned, rest = table[_FIRST:num_trained], slice(num_trained, len(table))
    if len(learned) < 2 or not len(table[rest]) or not _are_alike(table[rest], start[rest]):
        return 0
    scale = table[rest].std() / start[rest].std()
    start = start * scale
    change = learned - start[_FIRST:num_trained]
    mean = change.mean(0)
    seen = start[_FIRST:num_trained]
    # In the space of places (at most as many as trained ones), not of numbers: D may be larger.
    products = seen @ seen.T
    ridge = RIDGE * products.diagonal().mean() * torch.eye(len(seen), device=table.device)
    weights = torch.linalg.solve(products + ridge, change - mean)
    table[rest] = start[rest] + mean + (start[rest] @ seen.T) @ weights
    return len(table[rest])


def _are_alike(table: Tensor, start: Tensor) -> bool:
    """Tell whether vectors point where the warm start pointed; weight decay makes them shorter."""
    return bool((torch.cosine_similarity(table.float(), start.float(), dim=-1) > 0.999).all())
