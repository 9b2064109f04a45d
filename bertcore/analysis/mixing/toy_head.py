"""A made-up attention head of two dimensions, whose query is chosen."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.model.network.attention import attention_explicit

TOKENS = ("A", "B", "C", "D")
KEY_ANGLES = (0, 60, 150, 250)
"""In degrees; all keys are 1 long."""
VALUES = (10.0, 20.0, 40.0, 80.0)


@dataclass(frozen=True, slots=True, eq=False)
class ToyHead:
    """What a query gets from four tokens: softmax(q K^T / sqrt(2)) V."""

    query: NDArray[np.float64]
    """[2]"""
    keys: NDArray[np.float64]
    """[4, 2]"""
    scores: NDArray[np.float64]
    """[4]"""
    weights: NDArray[np.float64]
    """[4]"""
    output: float


def toy_head(angle: float = 30, length: float = 2.0) -> ToyHead:
    """Return what a query of a direction, in degrees, and a length gets."""
    turns = torch.deg2rad(torch.tensor([angle, *KEY_ANGLES], dtype=torch.float64))
    around = torch.stack([turns.cos(), turns.sin()], dim=1)  # [5, 2]
    query, keys = length * around[:1], around[1:]
    values = torch.tensor(VALUES, dtype=torch.float64)[:, None]
    output, weights = attention_explicit(query, keys, values, None)
    scores = (keys @ query[0]).numpy() / np.sqrt(2)
    return ToyHead(query[0].numpy(), keys.numpy(), scores, weights[0].numpy(), float(output))
