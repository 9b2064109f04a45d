"""Accuracy by slice: answers grouped by length or by label."""

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

    ValueError if there is no answer.
    """
    if not len(lengths):
        raise ValueError("there is no answer to group.")
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
