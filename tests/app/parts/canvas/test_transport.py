"""What reaches the browser against what was computed."""

import numpy as np
import pytest
import torch

from app.parts.canvas.shared.transport import MAX_ERROR, Deflated, decoding_table, encode, pack
from bertcore.analysis.heads.attention import THUMBNAIL_SIZE, thumbnails
from bertcore.base.quantize import quantize


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


@pytest.mark.parametrize("wrong", [torch.nan, -0.5, 1.5])
def test_numbers_that_are_no_weights_are_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="expected 0 to 1"):
        quantize(torch.tensor([0.2, wrong]))


def test_thumbnails_keep_a_single_narrow_line() -> None:
    """A diagonal in 512 tokens is one cell wide; each thumbnail row must still show it."""
    small = encode(thumbnails(torch.eye(512).expand(2, 3, 512, 512))).codes
    assert small.shape == (2, 3, THUMBNAIL_SIZE, THUMBNAIL_SIZE)
    assert (small.max(-1) == 255).all()
    assert small.nbytes == 2 * 3 * THUMBNAIL_SIZE**2


def test_what_is_not_a_number_is_marked_and_the_rest_is_kept() -> None:
    weights = torch.softmax(torch.randn(2, 3, 6, 6), -1)
    broken = weights.clone()
    broken[1, 2, 4] = torch.nan
    codes, missing = encode(broken)
    assert (missing == broken.isnan().numpy()).all()
    assert missing.sum() == 6
    assert (codes[~missing] == quantize(weights)[~missing]).all()
    assert (codes[missing] == 0).all()
    with pytest.raises(ValueError, match="expected 0 to 1"):
        encode(torch.tensor([torch.nan, 1.5]))


def test_thumbnails_show_a_single_weight_that_is_not_a_number() -> None:
    weights = torch.softmax(torch.randn(1, 2, 100, 100), -1)
    weights[0, 1, 73, 20] = torch.nan
    found = thumbnails(weights).isnan().nonzero()
    cell = (73 * THUMBNAIL_SIZE // 100, 20 * THUMBNAIL_SIZE // 100)
    assert [0, 1, *cell] in found.tolist()
    assert len(found) <= 4  # blocks overlap where 48 does not divide 100


@pytest.mark.parametrize("sharpness", [0, 0.5, 1, 2, 4])
def test_all_heads_of_a_layer_at_512_tokens_stay_small(sharpness: float) -> None:
    """12 heads and 512 tokens are 3.1 million weights; at most 2.5 MB go to the browser."""
    torch.manual_seed(0)
    weights = torch.softmax(torch.randn(12, 512, 512) * sharpness, -1)
    assert len(pack({}, Deflated(encode(weights).codes))) < 1_700_000
