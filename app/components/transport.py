"""Attention as bytes for the browser: one layer, or all heads as thumbnails.

Streamlit hands raw bytes to a component as they are, but only on the top level. A message is
therefore one block: the length of a JSON header (uint32, little-endian), the header in UTF-8 padded
with spaces to a multiple of 4, and the arrays one after the other; the header's `blocks` has the
start and the length of each. `transport.js` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAX_ERROR = 0.003
"""No weight in the browser is further than this from the computed one."""

THUMBNAIL_SIZE = 48
"""Most cells on a side of a thumbnail."""

# A plain square root keeps faint weights apart but is 0.0039 off near 1, where its slope is 1/2.
# This mixture has slope 0.655 there: half a step is 0.5 / 255 / 0.655 = 0.0030.
_ROOT, _LINE = 0.69, 0.31

_HERE = Path(__file__).parent

SHARED_JS = "".join(
    (_HERE / name).read_text(encoding="utf-8") for name in ("transport.js", "pictures.js")
)
"""Reading messages and saving pictures in the browser; put in front of a view's own JavaScript."""


def quantize(weights: Tensor) -> NDArray[np.uint8]:
    """Return weights as one byte each, along a square-root curve; any shape.

    Args:
        weights: Between 0 and 1 (rounding of low precision may exceed 1 a little).

    Returns:
        round(255 f(w)) with f(w) = 0.69 sqrt(w) + 0.31 w; `decoding_table()` undoes it.

    Raises:
        ValueError: If a weight is not a number or is outside 0 to 1.
    """
    values = weights.detach().float()
    low, high = (float(x) for x in torch.aminmax(values)) if values.numel() else (0.0, 0.0)
    if not (low >= 0 and high <= 1.01):
        raise ValueError(
            f"attention weights lie between {low:.3g} and {high:.3g}; expected 0 to 1. "
            "The checkpoint's weights may hold NaN, or its precision may be too low: "
            "try float32, and see its load report."
        )
    values = values.clamp(max=1.0)
    codes = values.sqrt().mul_(_ROOT).add_(values, alpha=_LINE).mul_(255).round_()
    return codes.to(torch.uint8).numpy()


def decoding_table() -> NDArray[np.float32]:
    """Return the weight that each of the 256 codes stands for."""
    levels = np.arange(256) / 255
    root = (np.sqrt(_ROOT**2 + 4 * _LINE * levels) - _ROOT) / (2 * _LINE)
    return np.square(root).astype(np.float32)


def thumbnails(attentions: Tensor, size: int = THUMBNAIL_SIZE) -> NDArray[np.uint8]:
    """Return all heads small, quantized: [L, H, S, S] with S = min(T, size).

    A cell is the largest weight of its block: a mean would lose the narrow diagonals that make
    heads worth looking at.
    """
    num_tokens = attentions.shape[-1]
    if num_tokens <= size:
        return quantize(attentions)
    pooled = [
        torch.nn.functional.adaptive_max_pool2d(layer.detach().float(), size)
        for layer in attentions
    ]
    return quantize(torch.stack(pooled))


def pack(header: Mapping[str, Any], *arrays: NDArray[Any]) -> bytes:
    """Return one message: a JSON header and the bytes of `arrays`, in this order."""
    blocks: list[list[int]] = []
    start = 0
    parts = [np.ascontiguousarray(array).tobytes() for array in arrays]
    for number, part in enumerate(parts):
        # 4-byte alignment, so that the browser can look at float32 without copying.
        padding = -len(part) % 4
        blocks.append([start, len(part)])
        parts[number] = part + bytes(padding)
        start += len(part) + padding
    text = json.dumps({**header, "blocks": blocks}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + b"".join(parts)
