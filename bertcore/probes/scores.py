"""Scores of probes, each with a 95% interval."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import bootstrap


@dataclass(frozen=True, slots=True)
class Score:
    """A value and its 95% interval, over sentences."""

    value: float
    low: float
    high: float


def ratio_score(counts: NDArray[np.float64]) -> Score:
    """Return one sum over sentences divided by another, such as right words by words.

    Args:
        counts: Numerator and denominator of each sentence, [S, 2].
    """
    return _score(counts, _ratio)


def difference_score(first: NDArray[np.float64], second: NDArray[np.float64]) -> Score:
    """Return the difference of two ratios; the same sentences are drawn for both.

    Args:
        first, second: As for `ratio_score`, of the same sentences.
    """
    return _score(
        np.concatenate([first, second], axis=1),
        lambda counts: _ratio(counts[:, :2]) - _ratio(counts[:, 2:]),
    )


def length_mean_score(values: NDArray[np.float64], lengths: NDArray[np.int64]) -> Score:
    """Return the mean over lengths of the mean over the sentences of that length.

    Args:
        values: Of the sentences, [S].
        lengths: Of the sentences in words, [S].

    The interval keeps the lengths fixed and pools the variance within them: a bootstrap would lose
    the rare lengths, which weigh as much as the others, and shift the mean. It is NaN if no two
    sentences have the same length.

    Source: Hewitt and Manning 2019, section 4.1 (they take lengths of 5 to 50 words).
    """
    from scipy.stats import t as student_t

    value = length_mean(values, lengths)
    counts = np.bincount(lengths)
    num_lengths = int((counts > 0).sum())
    freedom = len(values) - num_lengths
    if freedom < 1:
        return Score(value, float("nan"), float("nan"))
    means = np.bincount(lengths, weights=values) / np.maximum(counts, 1)
    variance = ((values - means[lengths]) ** 2).sum() / freedom
    error = np.sqrt(variance * (1 / counts[counts > 0]).sum()) / num_lengths
    half = float(student_t.ppf(0.975, freedom) * error)
    return Score(value, value - half, value + half)


def length_mean(values: NDArray[np.float64], lengths: NDArray[np.int64]) -> float:
    """Return the value of `length_mean_score`; NaN if there is no sentence."""
    counts = np.bincount(lengths)
    sums = np.bincount(lengths, weights=values)
    there = counts > 0
    return float((sums[there] / counts[there]).mean()) if there.any() else float("nan")


def right_counts(is_right: NDArray[np.bool_], sentence: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return right words and words of each sentence that has one, [S, 2].

    Args:
        is_right: [N].
        sentence: Number of each word's sentence, [N].
    """
    _, groups = np.unique(sentence, return_inverse=True)
    groups = groups.reshape(-1)
    return np.stack(
        [np.bincount(groups, weights=is_right.astype(np.float64)), np.bincount(groups)], axis=1
    ).astype(np.float64)


def entity_counts(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """Return the counts of F1 over whole entities, of each sentence: 2 right, gold + predicted.

    Source: seqeval, like conlleval: an entity is right if both its boundaries and its type are.
    """
    from seqeval.metrics.sequence_labeling import get_entities

    counts = []
    for a, b in zip(gold, predicted, strict=True):
        one, two = set(get_entities(list(a))), set(get_entities(list(b)))
        counts.append((2 * len(one & two), len(one) + len(two)))
    return np.array(counts, dtype=np.float64).reshape(-1, 2)


def _ratio(counts: NDArray[np.float64]) -> float:
    above, below = counts.sum(0)
    return float(above / below) if below else 0.0


def _score(rows: NDArray[np.float64], measure: Callable[[NDArray[np.float64]], float]) -> Score:
    low, high = bootstrap(rows, lambda drawn: {"score": measure(drawn)})["score"]
    return Score(float(measure(rows)), low, high)
