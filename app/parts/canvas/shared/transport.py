"""Attention as bytes for the browser: one layer, or all heads as thumbnails.

Streamlit hands raw bytes to a component as they are, but only on the top level. A message is
therefore one block: the length of a JSON header (uint32, little-endian), the header in UTF-8 padded
with spaces to a multiple of 4, and the arrays one after the other; the header's `blocks` has the
start and the length of each, and 1 where it is deflated. `transport.ts` reads it.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bertcore.base.quantize import MAX_ERROR, decoding_table, quantize

__all__ = ["MAX_ERROR", "Deflated", "Encoded", "change", "decoding_table", "encode", "pack"]


class Encoded(NamedTuple):
    """Weights as the browser gets them."""

    codes: NDArray[np.uint8]
    """One byte each, as `quantize` gives it; 0 if it is not a number."""
    missing: NDArray[np.bool_]
    """True where a weight is not a number (NaN), of the same shape."""


class Deflated(NamedTuple):
    """An array that `pack` compresses and the browser restores."""

    array: NDArray[Any]


def encode(weights: Tensor) -> Encoded:
    """Return weights as one byte each, and where they are NaN; any shape.

    ValueError if a weight that is a number is outside 0 to 1.
    """
    values = weights.detach()
    missing = values.isnan()
    return Encoded(quantize(values.masked_fill(missing, 0.0)), missing.cpu().numpy())


def pack(header: Mapping[str, Any], *arrays: NDArray[Any] | Deflated) -> bytes:
    """Return one message: a JSON header and the bytes of `arrays`, in this order."""
    blocks: list[list[int]] = []
    start = 0
    parts: list[bytes] = []
    for array in arrays:
        if isinstance(array, Deflated):
            part = _deflate(np.ascontiguousarray(array.array).tobytes())
        else:
            part = np.ascontiguousarray(array).tobytes()
        # 4-byte alignment, so that the browser can read float32 without copying.
        padding = -len(part) % 4
        blocks.append([start, len(part), *([1] if isinstance(array, Deflated) else [])])
        parts.append(part + bytes(padding))
        start += len(part) + padding
    return _with_header({**header, "blocks": blocks}) + b"".join(parts)


def change(message: bytes, **values: Any) -> bytes:
    """Return a message with some values of its header changed or added."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    return _with_header({**header, **values}) + message[4 + length :]


def _with_header(header: Mapping[str, Any]) -> bytes:
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text


def _deflate(data: bytes) -> bytes:
    """Return `data` in the zlib format (RFC 1950).

    A row's weights sum to 1, so codes are small numbers: coding each by how frequent it is takes
    half or less of a byte (at most about 4.1 bits for any 512 weights). Looking for repeated
    strings as well (level 1) came out larger; level 6 took ten times as long and gained little.
    """
    compressor = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return compressor.compress(data) + compressor.flush()
