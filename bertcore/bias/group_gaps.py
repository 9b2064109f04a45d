"""The answers of a fine-tuned model by group, and the gaps between groups; numbers only.

A rate has a Wilson interval. A gap is the highest rate minus the lowest one, and its interval is
that of the difference between these two groups (Newcombe). Even groups that do not differ always
show some gap, the wider the smaller and the more numerous they are; 95% are within `chance`.

Source: Hardt et al. 2016 (equal opportunity, equalized odds); the gaps are those of fairlearn's
demographic_parity_difference and equalized_odds_difference. Differs: a gap for each label, and
groups with few cases are left out of it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.evaluation.intervals import (
    RESAMPLES,
    Interval,
    difference_interval,
    mean_interval,
    wilson_interval,
)

LEAST = 20
"""Number of cases that a group needs to be compared."""
CHANCE_PERCENTILE = 95
_SEED = 0
_MOST_SHUFFLED = 100_000_000
"""Total number of scores assigned to groups at random; large files get fewer rounds."""

ACCURACY = "accuracy"
SELECTION, RECALL, FALSE_POSITIVES = "selection rate", "recall", "false-positive rate"
PARITY, OPPORTUNITY, ODDS = "demographic parity", "equal opportunity", "equalized odds"
PREDICTION, ERROR, DISTANCE = "mean prediction", "mean error", "mean distance"


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate or a mean in one group, and its 95% interval."""

    mean: float
    """NaN without a case."""
    low: float
    high: float
    num_cases: int
    """Number of texts in the fraction or mean; for recall, of those with the label."""


@dataclass(frozen=True, slots=True)
class Rates:
    """One measure of every group."""

    measure: str
    label: str | None
    """The label of the rates; None for those of all answers."""
    groups: tuple[Rate, ...]
    """[G]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The difference between the group with the highest and that with the lowest rate."""

    measure: str
    label: str | None
    value: float
    """0 or more."""
    low: float
    """The lower end of the 95% interval of these two groups' difference; may be below 0."""
    high: float
    chance: float
    """95% of the gaps are no wider if the groups do not differ."""
    highest: str
    lowest: str
    num_groups: int
    """Groups with enough cases to be compared."""

    @property
    def is_beyond_chance(self) -> bool:
        """Whether it is wider than 95% of chance gaps."""
        return self.value > self.chance


class Counts(NamedTuple):
    """Answers counted by group and label."""

    num: NDArray[np.int64]
    """Answers, [G]."""
    right: NDArray[np.int64]
    """Right answers, [G]."""
    gold: NDArray[np.int64]
    """Texts with each label, [G, C]."""
    predicted: NDArray[np.int64]
    """Texts that are given each label, [G, C]."""
    both: NDArray[np.int64]
    """Texts that have it and are given it, [G, C]."""


def count_answers(
    gold: NDArray[Any],
    predicted: NDArray[Any],
    right: NDArray[np.bool_],
    groups: NDArray[np.integer],
    *,
    num_groups: int,
    num_labels: int,
) -> Counts:
    """Count answers.

    Args:
        gold, predicted: Class of each answer, [N], or whether it has each label, [N, C].
        right: Whether it is right, [N].
        groups: Group of each answer, from 0, [N].
        num_groups: G.
        num_labels: C; 0 counts only right answers.
    """
    if gold.ndim == 1:
        classes = np.arange(num_labels)
        gold, predicted = gold[:, None] == classes, predicted[:, None] == classes
    sums = np.zeros((3, num_groups, num_labels), dtype=np.int64)
    for group in range(num_groups):
        inside = groups == group
        for total, table in zip(sums, (gold, predicted, gold & predicted), strict=True):
            total[group] = table[inside].sum(0)
    num = np.bincount(groups, minlength=num_groups)
    return Counts(num, np.bincount(groups[right], minlength=num_groups), *sums)


def label_rates(counts: Counts, labels: Sequence[str]) -> list[Rates]:
    """Return accuracy, then selection rate, recall and false-positive rate of each label."""
    rates = [_rates(ACCURACY, None, counts.right, counts.num)]
    for c, label in enumerate(labels):
        gold, predicted, both = (part[:, c] for part in counts[2:])
        rates += [
            _rates(SELECTION, label, predicted, counts.num),
            _rates(RECALL, label, both, gold),
            _rates(FALSE_POSITIVES, label, predicted - both, counts.num - gold),
        ]
    return rates


def label_gaps(
    counts: Counts, labels: Sequence[str], names: Sequence[str], *, least: int = LEAST
) -> list[Gap]:
    """Return the gap in accuracy, and those of the three fairness criteria for each label.

    Demographic parity compares selection rates, equal opportunity recall, equalized odds recall and
    false-positive rate: the wider of the two gaps.

    Args:
        counts: From `count_answers`.
        labels: C names.
        names: Of the groups, [G].
        least: Number of cases that a group needs to be compared; a gap of fewer than two groups is
            left out.
    """
    generator = np.random.default_rng(_SEED)

    def gap(
        measure: str, label: str | None, num: NDArray[np.int64], cases: NDArray[np.int64]
    ) -> tuple[Gap, NDArray[np.float64]] | None:
        return _proportion_gap(measure, label, num, cases, names, least, generator)

    found = [gap(ACCURACY, None, counts.right, counts.num)]
    for c, label in enumerate(labels):
        gold, predicted, both = (part[:, c] for part in counts[2:])
        found.append(gap(PARITY, label, predicted, counts.num))
        recall = gap(OPPORTUNITY, label, both, gold)
        false = gap(ODDS, label, predicted - both, counts.num - gold)
        found.append(recall)
        if recall is not None and false is not None:
            wider = max(recall[0], false[0], key=lambda one: one.value)
            drawn = np.maximum(recall[1], false[1])
            found.append((replace(wider, measure=ODDS, chance=_chance(drawn)), drawn))
    return [one[0] for one in found if one is not None]


def score_rates(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    groups: NDArray[np.integer],
    num_groups: int,
) -> list[Rates]:
    """Return mean prediction, mean error (predicted minus true) and mean distance by group.

    Args:
        gold, predicted: Scores, [N].
        groups: Of each, from 0, [N].
        num_groups: G.
    """
    return [
        Rates(measure, None, tuple(_mean(values[groups == g]) for g in range(num_groups)))
        for measure, values in _measures_of_scores(gold, predicted).items()
    ]


def score_gaps(
    gold: NDArray[np.floating],
    predicted: NDArray[np.floating],
    groups: NDArray[np.integer],
    names: Sequence[str],
    *,
    least: int = LEAST,
) -> list[Gap]:
    """Return the gaps in mean prediction, mean error and mean distance.

    The interval is Welch's for the difference of two means; chance is estimated by assigning the
    scores to groups at random.

    Args:
        gold, predicted: Scores, [N].
        groups: Of each, from 0, [N].
        names: Of the groups, [G].
        least: Number of scores that a group needs to be compared.
    """
    sizes = np.bincount(groups, minlength=len(names))
    chosen = np.flatnonzero(sizes >= max(least, 2))
    if len(chosen) < 2:
        return []
    inside = np.isin(groups, chosen)
    places = np.searchsorted(chosen, groups[inside])
    return [
        _mean_gap(measure, values[inside], places, [names[g] for g in chosen.tolist()])
        for measure, values in _measures_of_scores(gold, predicted).items()
    ]


def _measures_of_scores(
    gold: NDArray[np.floating], predicted: NDArray[np.floating]
) -> dict[str, NDArray[np.float64]]:
    errors = predicted.astype(np.float64) - gold.astype(np.float64)
    return {PREDICTION: predicted.astype(np.float64), ERROR: errors, DISTANCE: np.abs(errors)}


def _rates(
    measure: str, label: str | None, num: NDArray[np.int64], cases: NDArray[np.int64]
) -> Rates:
    interval = wilson_interval(num, cases)
    ends = zip(*(part.tolist() for part in interval), cases.tolist(), strict=True)
    return Rates(measure, label, tuple(Rate(*end) for end in ends))


def _proportion_gap(
    measure: str,
    label: str | None,
    num: NDArray[np.int64],
    cases: NDArray[np.int64],
    names: Sequence[str],
    least: int,
    generator: np.random.Generator,
) -> tuple[Gap, NDArray[np.float64]] | None:
    """Return a gap, and the gaps of groups that do not differ, [R]; None for fewer than two groups.

    For the latter, each group's count is drawn from the rate of all groups together.
    """
    chosen = np.flatnonzero(cases >= max(least, 1))
    if len(chosen) < 2:
        return None
    num, cases = num[chosen], cases[chosen]
    interval = wilson_interval(num, cases)
    highest, lowest = _extremes(interval.mean)
    ends = (Interval(*(part[place] for part in interval)) for place in (highest, lowest))
    difference = difference_interval(*ends)
    drawn = generator.binomial(cases, num.sum() / cases.sum(), (RESAMPLES, len(cases))) / cases
    gaps: NDArray[np.float64] = np.ptp(drawn, axis=1)
    gap = Gap(
        measure=measure,
        label=label,
        value=float(difference.mean),
        low=float(difference.low),
        high=float(difference.high),
        chance=_chance(gaps),
        highest=names[int(chosen[highest])],
        lowest=names[int(chosen[lowest])],
        num_groups=len(chosen),
    )
    return gap, gaps


def _extremes(means: NDArray[np.float64]) -> tuple[int, int]:
    """Return the indices of the highest and the lowest mean: two groups even if all are equal."""
    return int(means.argmax()), len(means) - 1 - int(means[::-1].argmin())


def _chance(gaps: NDArray[np.float64]) -> float:
    return float(np.percentile(gaps, CHANCE_PERCENTILE))


def _mean(values: NDArray[np.float64]) -> Rate:
    mean, low, high = map(float, mean_interval(values))
    return Rate(mean, low, high, len(values))


def _mean_gap(
    measure: str, values: NDArray[np.float64], groups: NDArray[np.int64], names: Sequence[str]
) -> Gap:
    from scipy import stats

    sizes = np.bincount(groups)
    means = np.bincount(groups, values) / sizes
    highest, lowest = _extremes(means)
    low, high = stats.ttest_ind(
        values[groups == highest], values[groups == lowest], equal_var=False
    ).confidence_interval()
    generator = np.random.default_rng(_SEED)
    rounds = max(100, min(RESAMPLES, _MOST_SHUFFLED // len(values)))
    shuffled = (generator.permutation(values) for _ in range(rounds))
    gaps = np.array([np.ptp(np.bincount(groups, one) / sizes) for one in shuffled])
    return Gap(
        measure=measure,
        label=None,
        value=float(means[highest] - means[lowest]),
        low=float(low),
        high=float(high),
        chance=_chance(gaps),
        highest=names[highest],
        lowest=names[lowest],
        num_groups=len(names),
    )


def widest(gaps: Iterable[Gap]) -> list[Gap]:
    """Return the gaps, the widest relative to chance first."""
    return sorted(gaps, key=lambda one: one.chance - one.value)
