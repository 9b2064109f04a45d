"""What reaches the browser against what was computed. Run: pytest tests/app/test_transport.py"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from app.components.transport import (
    MAX_ERROR,
    THUMBNAIL_SIZE,
    decoding_table,
    pack,
    quantize,
    thumbnails,
)


def test_every_weight_is_within_the_stated_error() -> None:
    weights = torch.linspace(0, 1, 200_001)
    decoded = decoding_table()[quantize(weights)]
    error = np.abs(decoded - weights.numpy()).max()
    assert error <= MAX_ERROR
    # The bound is tight: with fewer levels it would break.
    assert error > 0.9 * MAX_ERROR


def test_faint_weights_stay_apart() -> None:
    """Even attention over 512 tokens differs from none, and half of it from it."""
    codes = quantize(torch.tensor([0.0, 1 / 1024, 1 / 512, 1.0]))
    assert codes.tolist() == sorted(set(codes.tolist()))
    assert codes[0] == 0
    assert codes[-1] == 255


def test_decoded_rows_still_sum_to_about_one() -> None:
    torch.manual_seed(0)
    weights = torch.softmax(3 * torch.randn(12, 128, 128), -1)
    sums = decoding_table()[quantize(weights)].sum(-1)
    assert np.abs(sums - 1).max() < 0.02


def test_low_precision_is_read() -> None:
    weights = torch.softmax(torch.randn(4, 8, 8), -1).to(torch.bfloat16)
    assert quantize(weights).shape == (4, 8, 8)


@pytest.mark.parametrize("wrong", [torch.nan, -0.5, 1.5])
def test_numbers_that_are_no_weights_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="expected 0 to 1"):
        quantize(torch.tensor([0.2, wrong]))


def test_thumbnails_keep_a_single_narrow_line() -> None:
    """A diagonal in 512 tokens is one cell wide; each thumbnail row must still show it."""
    small = thumbnails(torch.eye(512).expand(2, 3, 512, 512))
    assert small.shape == (2, 3, THUMBNAIL_SIZE, THUMBNAIL_SIZE)
    assert (small.max(-1) == 255).all()
    assert small.nbytes == 2 * 3 * THUMBNAIL_SIZE**2


def test_short_inputs_are_not_resampled() -> None:
    weights = torch.softmax(torch.randn(1, 2, 5, 5), -1)
    assert (thumbnails(weights) == quantize(weights)).all()


def test_pack_lays_out_header_and_blocks() -> None:
    numbers = np.arange(3, dtype=np.uint8)
    floats = np.array([0.5, 2.0], dtype=np.float32)
    message = pack({"tokens": ["</script>", "\u05e9"]}, numbers, floats)
    length = int.from_bytes(message[:4], "little")
    assert length % 4 == 0
    header = json.loads(message[4 : 4 + length])
    assert header["tokens"] == ["</script>", "\u05e9"]
    body = message[4 + length :]
    (start, size), (start_2, size_2) = header["blocks"]
    assert body[start : start + size] == numbers.tobytes()
    assert start_2 % 4 == 0
    assert body[start_2 : start_2 + size_2] == floats.tobytes()
