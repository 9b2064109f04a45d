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

from bertcore.analysis.quantize import MAX_ERROR, decoding_table, quantize

__all__ = [
    "MAX_ERROR",
    "SHARED_CSS",
    "SHARED_JS",
    "THUMBNAIL_SIZE",
    "decoding_table",
    "pack",
    "quantize",
    "thumbnails",
]

THUMBNAIL_SIZE = 48
"""Most cells on a side of a thumbnail."""

_HERE = Path(__file__).parent

_SHARED = (
    *("transport", "mount", "elements", "canvas", "tooltip"),
    *("twin", "pictures", "npz", "saving"),
)
SHARED_JS = "".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in _SHARED)
"""What a view's own JavaScript builds on: messages, its place, elements, canvas, tooltip, table,
files."""

SHARED_CSS = (_HERE / "shared.css").read_text(encoding="utf-8")
"""The looks of the tooltip, the table under a view and the controls of a view."""


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
