"""Calibration: reliability diagram and expected calibration error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import wilson_interval

NUM_BINS = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """Answers in K bins of similar confidence."""

    edges: NDArray[np.float64]
    """[K + 1], from 0 to 1; a bin holds confidences above its lower edge, up to its upper one."""
    counts: NDArray[np.int64]
    """Answers in each bin, [K]."""
    confidence: NDArray[np.float64]
    """Mean confidence of each bin, [K]; NaN if it is empty."""
    accuracy: NDArray[np.float64]
    """Fraction of right answers in each bin, [K]; NaN if it is empty."""
    low: NDArray[np.float64]
    """Lower end of the accuracy's 95% interval, [K]; NaN if the bin is empty."""
    high: NDArray[np.float64]
    """Its upper end, [K]."""

    @property
    def expected_error(self) -> float:
        """ECE: the mean gap between confidence and accuracy, each bin weighted by its answers."""
        return float(np.nansum(self._gaps * self.counts) / max(1, self.counts.sum()))

    @property
    def largest_error(self) -> float:
        """MCE: the largest gap of any bin."""
        return float(np.nanmax(self._gaps, initial=0.0))

    @property
    def _gaps(self) -> NDArray[np.float64]:
        gaps: NDArray[np.float64] = np.abs(self.accuracy - self.confidence)
        return gaps


def calibration(
    confidence: NDArray[np.floating], right: NDArray[np.floating], *, num_bins: int = NUM_BINS
) -> Calibration:
    """Return how often answers are right, by confidence.

    Args:
        confidence: Probability of each given answer, [N], 0 to 1.
        right: 1.0 for a right answer, 0.0 for a wrong one, [N].
        num_bins: K, of equal width, at least 1.

    ValueError if there is no answer, or a confidence is not a probability.

    Source: Guo et al. 2017, "On calibration of modern neural networks", section 2. Intervals:
        Wilson 1927.
    """
    if not len(confidence) or len(confidence) != len(right):
        raise ValueError(
            f"there are {len(confidence)} confidences and {len(right)} answers; expected the same "
            "number of both, at least one."
        )
    if num_bins < 1:
        raise ValueError(f"num_bins is {num_bins}; expected at least 1.")
    sure = np.asarray(confidence, dtype=np.float64)
    # Float32 probabilities may slightly exceed 1.
    if not (np.isfinite(sure).all() and sure.min() >= 0 and sure.max() <= 1 + 1e-6):
        raise ValueError("a confidence is not a probability; expected numbers from 0 to 1.")
    edges = np.linspace(0, 1, num_bins + 1)
    bins = np.clip(np.searchsorted(edges, sure, side="left") - 1, 0, num_bins - 1)
    counts = np.bincount(bins, minlength=num_bins)
    filled = np.where(counts, counts, np.nan)
    mean = np.bincount(bins, weights=sure, minlength=num_bins) / filled
    accuracy = wilson_interval(np.bincount(bins, weights=right, minlength=num_bins), counts)
    return Calibration(edges, counts, mean, accuracy.mean, accuracy.low, accuracy.high)
