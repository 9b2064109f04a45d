"""Answers of a classifier grouped by confidence, length and label, with their accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import mean_interval, wilson_interval

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


def by_length(
    quality: NDArray[np.floating], lengths: NDArray[np.integer], *, num: int = NUM_LENGTHS
) -> list[Slice]:
    """Return slices with about the same number of answers, the shortest texts first.

    Args:
        quality: Quality of each answer, [N]: 1.0 or 0.0, or any number.
        lengths: In tokens, [N].
        num: Maximum number of slices; fewer if many texts have the same length.
    """
    bounds = np.unique(np.quantile(lengths, np.linspace(0, 1, num + 1)[1:], method="higher"))
    slices, lower = [], int(lengths.min())
    for upper in bounds.tolist():
        inside = (lengths >= lower) & (lengths <= upper)
        if inside.any():
            name = f"{lower} tokens" if lower == upper else f"{lower} to {upper} tokens"
            slices.append(_slice(name, quality[inside]))
        lower = upper + 1
    return slices


def by_label(
    quality: NDArray[np.floating], classes: NDArray[np.integer], labels: Sequence[str]
) -> list[Slice]:
    """Return a slice for each label that occurs, in the order of the labels.

    Args:
        quality: Of each answer, [N].
        classes: The true class of each, [N].
        labels: Names of the classes.
    """
    return [
        _slice(label, quality[classes == number])
        for number, label in enumerate(labels)
        if (classes == number).any()
    ]


def by_member(
    quality: NDArray[np.floating], members: NDArray[np.bool_], labels: Sequence[str]
) -> list[Slice]:
    """Return a slice for each label that occurs; an answer is in one slice per label of its text.

    Args:
        quality: Of each answer, [N].
        members: Whether each text has each label, [N, C].
        labels: C names.
    """
    return [
        _slice(label, quality[inside])
        for label, inside in zip(labels, members.T, strict=True)
        if inside.any()
    ]


def _slice(name: str, quality: NDArray[np.floating]) -> Slice:
    number = len(quality)
    if np.isin(quality, (0, 1)).all():
        interval = wilson_interval(quality.sum(dtype=np.float64), number)
    else:
        interval = mean_interval(quality)
    mean, low, high = map(float, interval)
    return Slice(name, number, mean, low, high)


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
        confidence: Probability of each given answer, [N], at least one.
        right: 1.0 for a right answer, 0.0 for a wrong one, [N].
        num_bins: K, of equal width, at least 1.

    Source: Guo et al. 2017, "On calibration of modern neural networks", section 2. Intervals:
        Wilson 1927.
    """
    edges = np.linspace(0, 1, num_bins + 1)
    bins = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, num_bins - 1)
    counts = np.bincount(bins, minlength=num_bins)
    filled = np.where(counts, counts, np.nan)
    mean = np.bincount(bins, weights=confidence, minlength=num_bins) / filled
    accuracy = wilson_interval(np.bincount(bins, weights=right, minlength=num_bins), counts)
    return Calibration(edges, counts, mean, accuracy.mean, accuracy.low, accuracy.high)


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
