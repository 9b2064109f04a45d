"""Calibration and slices against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bertcore.evaluation.calibration import calibration
from bertcore.evaluation.slices import by_label, by_length

CONFIDENCE = np.array([0.55, 0.6, 0.85, 0.9, 0.9, 0.95, 1.0, 0.3])
RIGHT = np.array([1, 0, 1, 0, 1, 1, 1, 0])


def test_expected_calibration_error_by_hand() -> None:
    """Bins of 0.1: (0.2, 0.3]: 0.3; (0.5, 0.6]: 0.55, 0.6; (0.8, 0.9]: 0.85, 0.9, 0.9; last two."""
    found = calibration(CONFIDENCE, RIGHT)
    assert found.counts.tolist() == [0, 0, 1, 0, 0, 2, 0, 0, 3, 2]
    np.testing.assert_allclose(found.confidence[[2, 5, 8, 9]], [0.3, 0.575, 2.65 / 3, 0.975])
    np.testing.assert_allclose(found.accuracy[[2, 5, 8, 9]], [0, 0.5, 2 / 3, 1])
    gaps = [0.3 * 1, 0.075 * 2, (2.65 / 3 - 2 / 3) * 3, 0.025 * 2]
    assert found.expected_error == pytest.approx(sum(gaps) / 8)
    assert found.largest_error == pytest.approx(0.3)
    assert np.isnan(found.accuracy[0])


def test_a_perfect_and_a_boastful_model() -> None:
    perfect = calibration(np.full(100, 0.8), np.arange(100) < 80)
    assert perfect.expected_error == pytest.approx(0, abs=1e-12)
    boastful = calibration(np.full(100, 1.0), np.arange(100) < 50, num_bins=5)
    assert boastful.expected_error == pytest.approx(0.5)
    assert boastful.counts.tolist() == [0, 0, 0, 0, 100]


def test_the_ends_of_the_scale_have_a_bin() -> None:
    found = calibration(np.array([0.0, 1.0]), np.array([0, 1]))
    assert found.counts[0] == found.counts[-1] == 1


@pytest.mark.parametrize(
    ("sure", "right", "bins", "message"),
    [
        ([], [], 10, "at least one"),
        ([0.5], [1, 0], 10, "the same number of both"),
        ([1.5], [1], 10, "not a probability"),
        ([np.nan], [1], 10, "not a probability"),
        ([0.5], [1], 0, "at least 1"),
    ],
)
def test_wrong_input(sure: list[float], right: list[int], bins: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calibration(np.array(sure), np.array(right), num_bins=bins)


def test_slices_by_length_by_hand() -> None:
    quality = np.array([1, 1, 0, 1, 0, 0], dtype=np.float32)
    lengths = np.array([3, 4, 5, 9, 10, 30])
    found = by_length(quality, lengths, num=3)
    assert [(s.name, s.number, s.mean) for s in found] == [
        ("3 to 5 tokens", 3, pytest.approx(2 / 3)),
        ("6 to 10 tokens", 2, 0.5),
        ("11 to 30 tokens", 1, 0.0),
    ]
    assert sum(s.number for s in found) == len(quality)
    assert all(s.low <= s.mean <= s.high for s in found)
    (one,) = by_length(quality, np.full(6, 7))
    assert (one.name, one.number, one.mean) == ("7 tokens", 6, 0.5)
    with pytest.raises(ValueError, match="no answer"):
        by_length(np.array([]), np.array([]))


def test_slices_by_label_and_of_numbers() -> None:
    quality = np.array([0.5, 1.5, 2.0], dtype=np.float32)
    found = by_label(quality, np.array([0, 0, 2]), ("a", "b", "c"))
    assert [(s.name, s.number, s.mean) for s in found] == [("a", 2, 1.0), ("c", 1, 2.0)]
    # Student's t with one degree of freedom, 12.706, times the standard error of (0.5, 1.5).
    assert found[0].high == pytest.approx(1 + 12.7062047 * 0.5)
    assert np.isnan(found[1].low)
