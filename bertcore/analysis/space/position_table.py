"""A learned position table beside the sinusoids of the Transformer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model import Model
from bertcore.network.embeddings import sinusoids


@dataclass(frozen=True, slots=True, eq=False)
class PositionTables:
    """The first P rows of a checkpoint's position table, and of the formula."""

    learned: NDArray[np.float32]
    """[P, D]"""
    sinusoids: NDArray[np.float32]
    """[P, D]: sine and cosine of falling frequency, side by side."""
    cosines: NDArray[np.float32]
    """Of each learned row with the formula's, [P]."""
    learned_by_distance: NDArray[np.float32]
    """Mean cosine of two learned rows that are 0 to P - 1 places apart, [P]."""
    sinusoids_by_distance: NDArray[np.float32]
    """The same of the formula's rows, [P]."""


def position_tables(bert: Model, num_positions: int = 64) -> PositionTables:
    """Return the position table of a checkpoint beside the formula's of the same shape.

    Args:
        bert: With a table of positions.
        num_positions: P; more than the table has means all of it.

    Raises:
        ValueError: If it has no such table, or P is below 2.

    Source: the formula: Vaswani et al. 2017, section 3.5.
    """
    bert.require("positions")
    if num_positions < 2:
        raise ValueError(f"num_positions is {num_positions}; expected at least 2.")
    learned = bert.module.position_table[:num_positions].detach().float().cpu()
    formula = sinusoids(*learned.shape)
    return PositionTables(
        learned=learned.numpy(),
        sinusoids=formula.numpy(),
        cosines=F.cosine_similarity(learned, formula, dim=-1).numpy(),
        learned_by_distance=_by_distance(learned),
        sinusoids_by_distance=_by_distance(formula),
    )


def _by_distance(table: Tensor) -> NDArray[np.float32]:
    unit = F.normalize(table, dim=-1)
    cosines = unit @ unit.T
    means = [float(torch.diagonal(cosines, distance).mean()) for distance in range(len(table))]
    return np.array(means, dtype=np.float32)
