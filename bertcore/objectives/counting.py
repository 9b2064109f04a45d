"""Counts of an objective over many draws, next to its paper's numbers."""

from dataclasses import dataclass

import numpy as np

from bertcore.evaluation.intervals import NORMAL_QUANTILE
from bertcore.objectives.draw import Given
from bertcore.objectives.table import OBJECTIVES, Objective

NUM_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Counted:
    """One share, or one mean length, over many draws on one text."""

    name: str
    mean: float
    low: float
    high: float
    """Ends of the 95% interval; equal where no draw differs."""
    paper: float | None
    """The paper's; None where it gives none."""
    expected: float
    """The share that was drawn with where this is the one that is chosen; else the paper's."""
    unit: str
    """Of a mean length; "" for a share, 0 to 1."""
    note: str
    """Why it is drawn differently from the paper; "" if it is not."""


@dataclass(frozen=True, slots=True)
class Counts:
    rates: tuple[Counted, ...]
    num_draws: int


def count(
    objective: str,
    given: Given,
    *,
    share: float | None = None,
    num_draws: int = NUM_DRAWS,
    seed: int = 0,
) -> Counts:
    """Draw an objective many times on one text and count.

    A rate is the sum of the counts over the sum of their bases, so larger draws have more weight.
    Its interval is that of a ratio of means over independent draws.

    Args:
        objective: One of OBJECTIVES.
        share: Share of hidden tokens; None: the paper's.
        num_draws: At least 2.
        seed: Fixes the result; draw number n uses the seed (seed, n).

    ValueError if there is no such objective, or it cannot be drawn on this text.

    Source: Cochran 1977, section 2.11 (the variance of a ratio).
    """
    entry = objective_of(objective)
    counted = np.empty((num_draws, len(entry.rates), 2))
    for number in range(num_draws if entry.rates else 0):
        rng = np.random.default_rng([seed, number])
        drawn = entry.draw(given, rng, _share(entry, share))
        for place, rate in enumerate(entry.rates):
            counted[number, place] = rate.count(given, drawn)
    found = []
    for place, rate in enumerate(entry.rates):
        mean, spread = _ratio(*counted[:, place].T)
        expected = _share(entry, share) if rate.follows_share else rate.paper
        assert expected is not None
        found.append(
            Counted(
                name=rate.name,
                mean=mean,
                low=mean - spread,
                high=mean + spread,
                paper=rate.paper,
                expected=expected,
                unit=rate.unit,
                note=rate.note,
            )
        )
    return Counts(tuple(found), num_draws)


def objective_of(name: str) -> Objective:
    """Return an objective of the table; ValueError if there is none with that name."""
    if name not in OBJECTIVES:
        raise ValueError(
            f"there is no objective {name!r}; expected one of {', '.join(OBJECTIVES)}."
        )
    return OBJECTIVES[name]


def _share(entry: Objective, share: float | None) -> float:
    if share is not None:
        return share
    return 0.0 if entry.share is None else entry.share


def _ratio(parts: np.ndarray, wholes: np.ndarray) -> tuple[float, float]:
    """Return the ratio of two sums, and half the width of its 95% interval; NaN over 0."""
    if not wholes.sum():
        return float("nan"), float("nan")
    ratio = float(parts.sum() / wholes.sum())
    error = np.std(parts - ratio * wholes, ddof=1) / np.sqrt(len(parts)) / wholes.mean()
    return ratio, NORMAL_QUANTILE * float(error)
