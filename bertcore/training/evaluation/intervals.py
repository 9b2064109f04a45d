"""Bootstrap, Student's t and Wilson confidence intervals."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 1000
"""Default number of resamples of the bootstrap."""
CONFIDENCE = 0.95
_ENDS = (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE))  # percentiles at the ends of an interval
NORMAL_QUANTILE = 1.959963984540054
"""The 97.5th percentile of the standard normal distribution."""
_SEED = 0  # of `bootstrap`, so that the same examples have the same interval
_CHUNK_CELLS = 2_000_000  # resampled rows, or their counts, held at a time
_MOST_DRAWS = 200_000_000
"""Values that `bootstrap` draws in all; larger data sets get fewer resamples."""


NO_INTERVAL = (float("nan"), float("nan"))


class Interval(NamedTuple):
    """A mean or a proportion, and the ends of its 95% interval; three arrays of one shape."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def best(self) -> tuple[int, int] | None:
        """Row and column of the largest mean, the first of equals; None if there is no number.

        It is the best of many on these examples, so expect slightly less on others.
        """
        if np.isnan(self.mean).all():
            return None
        row, column = np.unravel_index(np.nanargmax(self.mean), self.mean.shape)
        return int(row), int(column)


def bootstrap_means(
    values: ArrayLike, *, num_resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the mean over sentences and its percentile bootstrap interval (95%).

    All columns are resampled together: one draw of sentences serves every head and measure, as a
    matrix product. `scipy.stats.bootstrap` gathers the rows of each draw, does not support gaps,
    and takes a hundred times as long for the measures of a thousand sentences.

    Args:
        values: [N, ...], one row for each sentence; NaN if a sentence does not have the value.
            Means are over those that have it, also in each resample.
        num_resamples: R, at least 100: with fewer, the ends of the interval are noise.

    Returns:
        Interval of shape [...]; low and high are NaN if fewer than two sentences have a value, and
        so is the mean if none has.

    ValueError if there is no row or too few resamples.

    Source: Efron and Tibshirani 1993, chapter 13, the percentile interval; the same as
        scipy.stats.bootstrap(method="percentile").
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim == 0 or len(table) == 0:
        raise ValueError("there is no value to resample. Give at least one sentence.")
    if num_resamples < 100:
        raise ValueError(f"num_resamples is {num_resamples}; expected at least 100.")
    num_rows, shape = len(table), table.shape[1:]
    flat = table.reshape(num_rows, -1)
    is_there = ~np.isnan(flat)
    counts = is_there.sum(0)
    has_gaps = counts < num_rows
    filled = np.where(is_there, flat, 0.0)
    with np.errstate(invalid="ignore"):
        mean = filled.sum(0) / counts
    # Single precision from here on: enough for three digits, and twice as fast.
    filled, gaps = filled.astype(np.float32), is_there[:, has_gaps].astype(np.float32)
    generator = np.random.default_rng(seed)
    means = np.empty((num_resamples, flat.shape[1]), dtype=np.float32)
    step = max(1, _CHUNK_CELLS // num_rows)
    for start in range(0, num_resamples, step):
        draws = _draw(generator, min(step, num_resamples - start), num_rows)
        part = means[start : start + len(draws)]
        np.matmul(draws, filled, out=part)
        part[:, ~has_gaps] /= num_rows
        with np.errstate(invalid="ignore"):
            part[:, has_gaps] /= draws @ gaps  # 0 / 0: a draw without any sentence that has it
    low, high = np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    several = counts > 1
    percentile = np.nanpercentile if has_gaps.any() else np.percentile
    if several.any():
        low[several], high[several] = percentile(means[:, several], _ENDS, axis=0)
    return Interval(mean.reshape(shape), low.reshape(shape), high.reshape(shape))


def _draw(generator: np.random.Generator, num_draws: int, num_rows: int) -> NDArray[np.float32]:
    """Return how often each row occurs in each resample, [num_draws, num_rows]."""
    chosen = generator.integers(0, num_rows, (num_draws, num_rows))
    chosen += np.arange(num_draws)[:, None] * num_rows
    counts = np.bincount(chosen.ravel(), minlength=num_draws * num_rows)
    return counts.reshape(num_draws, num_rows).astype(np.float32)


def bootstrap(
    examples: NDArray[np.float64],
    measure: Callable[[NDArray[np.float64]], dict[str, float]],
    *,
    num_resamples: int = RESAMPLES,
) -> dict[str, tuple[float, float]]:
    """Return the 95% percentile bootstrap interval of each metric of a data set; NaN if N = 1.

    Each of N examples, at least 1, is a row, [N, ...]. For very large data sets there are fewer
    resamples, but at least 100.

    Source: the same as `scipy.stats.bootstrap(method="percentile")`.
    """
    rng, number, names = np.random.default_rng(_SEED), len(examples), list(measure(examples))
    if number < 2:  # a single example has no spread
        return dict.fromkeys(names, NO_INTERVAL)
    num_draws = max(100, min(num_resamples, _MOST_DRAWS // max(1, examples.size)))
    drawn = (measure(examples[rng.integers(number, size=number)]) for _ in range(num_draws))
    values = [[metrics[name] for name in names] for metrics in drawn]
    ends = np.percentile(values, _ENDS, axis=0).T.tolist()
    return {name: (low, high) for name, (low, high) in zip(names, ends, strict=True)}


def bootstrap_counts(
    counts: NDArray[np.int64],
    measure: Callable[[NDArray[np.float64]], dict[str, NDArray[np.float64]]],
) -> dict[str, tuple[float, float]]:
    """Return the 95% percentile bootstrap interval of each metric of a table of counts.

    Resampling examples is equivalent to resampling the cells that count them, of any shape, such as
    a confusion matrix [C, C]. `measure` computes each metric [R] by name from R redrawn tables, [R,
    ...]. NaN for a single example.
    """
    generator, probabilities = np.random.default_rng(_SEED), counts.ravel() / counts.sum()
    step = max(1, _CHUNK_CELLS // counts.size)
    parts = []
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        draws = generator.multinomial(counts.sum(), probabilities, size=size)
        parts.append(measure(draws.reshape(-1, *counts.shape).astype(np.float64)))
    metrics = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if counts.sum() < 2:
        return dict.fromkeys(metrics, NO_INTERVAL)
    return {name: tuple(np.percentile(values, _ENDS).tolist()) for name, values in metrics.items()}


def mean_interval(values: NDArray[np.floating]) -> Interval:
    """Return the mean of independent numbers [N] and its 95% interval by Student's t.

    With one value, low and high are NaN; with none, the mean is NaN, too.

    Source: the same as scipy.stats.ttest_1samp(values, 0).confidence_interval(). A bootstrap of a
        few numbers, or the normal quantile instead of t's, covers the mean too rarely.
    """
    from scipy import stats

    number = len(values)
    nan = np.array(np.nan)
    mean = np.asarray(values.mean(dtype=np.float64)) if number else nan
    if number < 2:
        return Interval(mean, nan, nan)
    quantile = stats.t.ppf((1 + CONFIDENCE) / 2, number - 1)
    half = quantile * values.std(ddof=1, dtype=np.float64) / number**0.5
    return Interval(mean, mean - half, mean + half)


def wilson_interval(num_right: ArrayLike, num_cases: ArrayLike) -> Interval:
    """Return the proportion of right cases and its Wilson score interval (95%).

    Counts are of broadcastable shapes; NaN if there are no cases.

    Source: Wilson 1927; the same as scipy.stats.binomtest(...).proportion_ci(method="wilson"). It
        assumes independent cases, which is only roughly true for those of one sentence.
    """
    right, cases = np.broadcast_arrays(
        np.asarray(num_right, dtype=np.float64), np.asarray(num_cases, dtype=np.float64)
    )
    z = NORMAL_QUANTILE
    with np.errstate(invalid="ignore", divide="ignore"):
        proportion = right / cases
        middle = (proportion + z * z / (2 * cases)) / (1 + z * z / cases)
        half = z / (1 + z * z / cases)
        half = half * np.sqrt(proportion * (1 - proportion) / cases + z * z / (4 * cases * cases))
    # Exact where no case or every case is right: rounding would leave 1e-17.
    low = np.where((cases > 0) & (right == 0), 0.0, np.maximum(middle - half, 0.0))
    high = np.where((cases > 0) & (right == cases), 1.0, np.minimum(middle + half, 1.0))
    return Interval(proportion, low, high)


def share_interval(num_right: float, num_cases: float) -> tuple[float, float]:
    """Return the ends of `wilson_interval` for one proportion.

    Unlike a bootstrap, it has non-zero width if all cases are right or there is only one.
    """
    found = wilson_interval(num_right, num_cases)
    return float(found.low), float(found.high)
