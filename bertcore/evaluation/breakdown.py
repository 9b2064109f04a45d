"""Accuracy of a classifier by confidence, length and label."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.calibration import calibration
from bertcore.evaluation.slices import Slice, by_label, by_length


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceBin:
    """Answers of similar confidence."""

    above: float
    """The lower edge: confidences are above it (in the first bin: or on it)."""
    up_to: float
    """The upper edge, inclusive."""
    number: int
    """Answers in it, at least 1."""
    confidence: float
    """Their mean."""
    accuracy: float
    """Fraction of right ones."""
    low: float
    """Lower end of the accuracy's 95% interval (Wilson)."""
    high: float
    """Its upper end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The answers of a classifier or tagger by group; plain values for JSON."""

    expected_calibration_error: float
    """Mean gap between confidence and accuracy, each bin weighted by its answers."""
    largest_calibration_error: float
    """The largest gap of a bin."""
    calibration: tuple[ConfidenceBin, ...]
    """Those of ten bins of equal width that have answers, the least confident first."""
    by_length: tuple[Slice, ...]
    """Accuracy by tokens of the text (of tags: of the sentence), the shortest first."""
    by_label: tuple[Slice, ...]
    """Accuracy by right label, of the labels that occur."""


def break_down(
    gold: NDArray[np.integer],
    predicted: NDArray[np.integer],
    confidence: NDArray[np.floating],
    lengths: NDArray[np.integer],
    labels: Sequence[str],
) -> Breakdown | None:
    """Return accuracy by confidence, length and label; None if a confidence is NaN.

    Args:
        gold, predicted: Class of each answer, [N].
        confidence: Probability of the predicted class, [N].
        lengths: Number of tokens, including special ones, [N].
        labels: Names of the classes.

    Source: Guo et al. 2017, section 2 (calibration).
    """
    if not np.isfinite(confidence).all():
        return None
    right = (gold == predicted).astype(np.float64)
    reliability = calibration(confidence, right)
    bins = tuple(
        ConfidenceBin(
            above=round(float(reliability.edges[i]), 9),
            up_to=round(float(reliability.edges[i + 1]), 9),
            number=int(reliability.counts[i]),
            confidence=float(reliability.confidence[i]),
            accuracy=float(reliability.accuracy[i]),
            low=float(reliability.low[i]),
            high=float(reliability.high[i]),
        )
        for i in np.flatnonzero(reliability.counts)
    )
    return Breakdown(
        expected_calibration_error=reliability.expected_error,
        largest_calibration_error=reliability.largest_error,
        calibration=bins,
        by_length=tuple(by_length(right, lengths)),
        by_label=tuple(by_label(right, gold, labels)),
    )
