"""Answers of a classifier grouped by confidence, length and label, with their accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.training.evaluation.intervals import mean_interval, wilson_interval

NUM_LENGTHS = 5


@dataclass(frozen=True, slots=True)
class Slice:
    """A subset of the answers."""

    name: str
    number: int
    """Answers in it."""
    mean: float
    """Mean of their quality; the accuracy where quality is 0 or 1."""
    low: float
    """Lower end of the mean's 95% interval; NaN for a single answer that is no fraction."""
    high: float
    """Its upper end."""


def by_length(quality: NDArray[np.floating], lengths: NDArray[np.integer]) -> list[Slice]:
    """Return up to five slices with about the same number of answers, the shortest texts first.

    The quality of each answer, [N], is 1.0 or 0.0, or any number; lengths are in tokens, [N].
    """
    bounds = np.unique(
        np.quantile(lengths, np.linspace(0, 1, NUM_LENGTHS + 1)[1:], method="higher")
    )
    slices, lower = [], int(lengths.min())
    for upper in bounds.tolist():
        inside = (lengths >= lower) & (lengths <= upper)
        if inside.any():
            name = f"{lower} tokens" if lower == upper else f"{lower} to {upper} tokens"
            slices.append(_slice(name, quality[inside]))
        lower = upper + 1
    return slices


def by_label(
    quality: NDArray[np.floating],
    classes: NDArray[np.integer] | NDArray[np.bool_],
    labels: Sequence[str],
) -> list[Slice]:
    """Return a slice for each label that occurs, in the order of the labels, of the quality [N].

    `classes` has the true class of each answer, [N]; or whether its text has each label, [N, C].
    """
    members = classes if classes.ndim == 2 else classes[:, None] == np.arange(len(labels))
    pairs = zip(labels, members.T, strict=True)
    return [_slice(label, quality[inside]) for label, inside in pairs if inside.any()]


def _slice(name: str, quality: NDArray[np.floating]) -> Slice:
    number = len(quality)
    if np.isin(quality, (0, 1)).all():
        interval = wilson_interval(quality.sum(dtype=np.float64), number)
    else:
        interval = mean_interval(quality)
    mean, low, high = map(float, interval)
    return Slice(name, number, mean, low, high)


NUM_BINS = 10


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


@dataclass(frozen=True, slots=True)
class Calibration:
    """Answers by confidence."""

    bins: tuple[ConfidenceBin, ...]
    """Those of ten of equal width that have answers, the least confident first."""

    @property
    def expected_error(self) -> float:
        """ECE: the mean gap between confidence and accuracy, each bin weighted by its answers."""
        gaps = sum(abs(each.accuracy - each.confidence) * each.number for each in self.bins)
        return gaps / sum(each.number for each in self.bins)

    @property
    def largest_error(self) -> float:
        """MCE: the largest gap of any bin."""
        return max(abs(each.accuracy - each.confidence) for each in self.bins)


def calibration(
    confidence: NDArray[np.floating], right: NDArray[np.bool_] | NDArray[np.floating]
) -> Calibration:
    """Return how often answers are `right`, [N], by the probability of each given answer, [N].

    Source: Guo et al. 2017, "On calibration of modern neural networks", section 2. Intervals:
        Wilson 1927.
    """
    edges = np.linspace(0, 1, NUM_BINS + 1)
    bins = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, NUM_BINS - 1)
    counts = np.bincount(bins, minlength=NUM_BINS)
    sums = np.bincount(bins, weights=confidence, minlength=NUM_BINS)
    accuracy = wilson_interval(np.bincount(bins, weights=right, minlength=NUM_BINS), counts)
    return Calibration(
        tuple(
            ConfidenceBin(
                above=round(float(edges[i]), 9),
                up_to=round(float(edges[i + 1]), 9),
                number=int(counts[i]),
                confidence=float(sums[i] / counts[i]),
                accuracy=float(accuracy.mean[i]),
                low=float(accuracy.low[i]),
                high=float(accuracy.high[i]),
            )
            for i in np.flatnonzero(counts)
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """The answers of a classifier or tagger by group; plain values for JSON."""

    expected_calibration_error: float
    """Of `Calibration`, as the next two."""
    largest_calibration_error: float
    calibration: tuple[ConfidenceBin, ...]
    by_length: tuple[Slice, ...]
    """Accuracy by tokens of the text (of tags: of the sentence), the shortest first."""
    by_label: tuple[Slice, ...]
    """Accuracy by right label, of the labels that occur."""


def break_down(
    right: NDArray[np.bool_],
    gold: NDArray[np.integer],
    confidence: NDArray[np.floating],
    lengths: NDArray[np.integer],
    labels: Sequence[str],
) -> Breakdown | None:
    """Return accuracy by confidence, length and label of N answers; None if a confidence is NaN.

    Confidence is the probability of the predicted class; lengths are in tokens, special ones
    included.
    """
    if not np.isfinite(confidence).all():
        return None
    calibrated, quality = calibration(confidence, right), right.astype(np.float64)
    return Breakdown(
        expected_calibration_error=calibrated.expected_error,
        largest_calibration_error=calibrated.largest_error,
        calibration=calibrated.bins,
        by_length=tuple(by_length(quality, lengths)),
        by_label=tuple(by_label(quality, gold, labels)),
    )
