"""Quantise attention weights to one byte each, for the browser and the probes."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAX_ERROR = 0.003
"""Largest error of a decoded weight."""

# A plain square root keeps faint weights apart but is 0.0039 off near 1, where its slope is 1/2.
# This mixture has slope 0.655 there: half a step is 0.5 / 255 / 0.655 = 0.0030.
_ROOT, _LINE = 0.69, 0.31


def quantize(weights: Tensor) -> NDArray[np.uint8]:
    """Return weights from 0 to 1 as one byte each, along a square-root curve; any shape.

    round(255 f(w)) with f(w) = 0.69 sqrt(w) + 0.31 w; `decoding_table()` undoes it. ValueError if a
    weight is not a number or is outside 0 to 1 (rounding of low precision may exceed 1 a little).
    """
    values = weights.detach().float()
    low, high = (float(x) for x in torch.aminmax(values)) if values.numel() else (0.0, 0.0)
    if not (low >= 0 and high <= 1.01):
        raise ValueError(
            f"attention weights are between {low:.3g} and {high:.3g}; expected 0 to 1. "
            "The checkpoint's weights may contain NaN, or its precision may be too low: "
            "try float32, and see its load report."
        )
    values = values.clamp(max=1.0)
    codes = values.sqrt().mul_(_ROOT).add_(values, alpha=_LINE).mul_(255).round_()
    out: NDArray[np.uint8] = codes.to(torch.uint8).cpu().numpy()
    return out


def decoding_table() -> NDArray[np.float32]:
    """Return the weight that each of the 256 codes stands for."""
    levels = np.arange(256) / 255
    root = (np.sqrt(_ROOT**2 + 4 * _LINE * levels) - _ROOT) / (2 * _LINE)
    table: NDArray[np.float32] = np.square(root).astype(np.float32)
    return table
