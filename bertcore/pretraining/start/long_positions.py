"""Extend the position table to long rows, for vectors that no short row has trained."""

import torch
from torch import Tensor

from bertcore.network.embeddings import sinusoids

RIDGE = 0.03
"""Share of the mean squared length of a sinusoid; EXPERIMENTS.md has results of other values."""
_FIRST = 16  # positions before this are left out of the fit: the start of a text is special


@torch.no_grad()
def extend_positions(table: Tensor, num_trained: int, *, offset: int = 0) -> int:
    """Apply the change that training made to the first positions to the untrained ones after them.

    The warm start gives each position a sinusoid, but short rows then train only the first ones, so
    the others no longer fit the network when long rows begin. Therefore the change from sinusoid to
    learned vector is fitted on the trained positions (ridge regression) and applied to the others.
    Positions that differ from the warm start have been trained, and are kept.

    Args:
        table: Position embeddings, [P, D]; changed in place.
        num_trained: Number of tokens in short rows.
        offset: Position of the first token (RoBERTa's is not 0).

    Returns:
        The number of positions that were changed.

    Source: ours.
    """
    start = sinusoids(*table.shape).to(table)
    trained = slice(offset + _FIRST, offset + num_trained)
    learned, rest = table[trained], slice(offset + num_trained, len(table))
    if len(learned) < 2 or not len(table[rest]) or not _are_alike(table[rest], start[rest]):
        return 0
    scale = table[rest].std() / start[rest].std()
    start = start * scale
    change = learned - start[trained]
    mean = change.mean(0)
    seen = start[trained]
    # Solved in the space of positions (at most `num_trained`), since D may be larger.
    products = seen @ seen.T
    ridge = RIDGE * products.diagonal().mean() * torch.eye(len(seen), device=table.device)
    weights = torch.linalg.solve(products + ridge, change - mean)
    table[rest] = start[rest] + mean + (start[rest] @ seen.T) @ weights
    return len(table[rest])


def _are_alike(table: Tensor, start: Tensor) -> bool:
    """Return whether vectors keep the warm start's direction; weight decay makes them shorter."""
    return bool((torch.cosine_similarity(table.float(), start.float(), dim=-1) > 0.999).all())
