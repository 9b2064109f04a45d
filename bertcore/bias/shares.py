"""The share of items on which a model prefers the stereotype, or is right, and its uncertainty."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertcore.evaluation.intervals import wilson_interval
from bertcore.grammar import accuracies, bundled_pairs, score_pairs
from bertcore.likelihood import HiddenToken, Row, hits_at_masks
from bertcore.model import Model

TIE = 1e-5
"""Scores that differ by no more are a tie: float32 sums are no closer."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of items and its 95% interval (Wilson).

    A bootstrap over items would give a share of 0 or 1 an interval of zero width, however few items
    there are.
    """

    group: str
    """The kind of bias, or "all"."""
    num_items: int
    num_ties: int
    """Items with equal scores, which count as half."""
    mean: float
    """0 to 1; 0.5 is no preference."""
    low: float
    high: float


def preferred(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return 1 if the first score is higher, 0 if the second is, 0.5 for a tie, [N].

    NaN if one of the two has no score.
    """
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    wins = np.where(np.abs(difference) <= TIE, 0.5, (difference > 0).astype(np.float64))
    return np.where(np.isnan(difference), np.nan, wins)


def shares(wins: NDArray[np.float64], groups: Sequence[str]) -> list[Share]:
    """Return the share over all items, then for each group in order of their names.

    Args:
        wins: 1, 0 or 0.5 for each item, as from `preferred`, [N]; NaN: the item has no score.
        groups: Group of each item, [N].

    ValueError if no item has a score.
    """
    if not np.isfinite(wins).any():
        raise ValueError("no item has a score. Keep at least one whose sentences can be read.")
    names = np.array(groups)
    scored = sorted(set(names[np.isfinite(wins)].tolist()))
    return [_share("all", wins), *(_share(name, wins[names == name]) for name in scored)]


def share_rows(measures: Mapping[str, Sequence[Share]]) -> list[dict[str, Any]]:
    """Return the shares by several measures, a row for each measure and group.

    "items" is the largest number of items of the group that a measure could score.
    """
    items: dict[str, int] = {}
    for share in chain.from_iterable(measures.values()):
        items[share.group] = max(share.num_items, items.get(share.group, 0))
    return [
        {
            "group": share.group,
            "items": items[share.group],
            "measure": measure,
            "mean": share.mean,
            "low": share.low,
            "high": share.high,
        }
        for measure, listed in measures.items()
        for share in sorted(listed, key=lambda share: list(items).index(share.group))
    ]


def _share(group: str, wins: NDArray[np.float64]) -> Share:
    scored = wins[np.isfinite(wins)]
    interval = wilson_interval(scored.sum(), len(scored))
    return Share(
        group=group,
        num_items=len(scored),
        num_ties=int((scored == 0.5).sum()),
        mean=float(interval.mean),
        low=float(interval.low),
        high=float(interval.high),
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95% interval."""

    mean: float
    low: float
    high: float


def share_of(num_right: float, number: int) -> Estimate:
    """Return a share of cases and its 95% interval (Wilson)."""
    interval = wilson_interval(num_right, number)
    return Estimate(float(interval.mean), float(interval.low), float(interval.high))


def masked_words(bert: Model) -> Estimate:
    """Return how often the best word at a hidden token is right, on our good sentences.

    ValueError if there is no masked-word head.
    """
    bert.require("mlm")
    asked = []
    for pair in bundled_pairs().pairs:
        encoding = bert.tokenize(pair.good)
        for place, is_added in enumerate(encoding.special_tokens_mask):
            if is_added:
                continue
            ids = list(encoding.input_ids)
            ids[place] = bert.tokenizer.mask_id
            row = Row(ids, encoding.segment_ids)
            asked.append(HiddenToken(row, place, encoding.input_ids[place]))
    hits = hits_at_masks(bert, asked)
    return share_of(float(hits.sum()), len(hits))


def grammar_exam(bert: Model, progress: Callable[[float], None] | None = None) -> Estimate:
    """Return how often the good sentence of our minimal pairs is the more probable one.

    Args:
        bert: With a masked-word head, or causal.
    """
    parts = score_pairs(bert, bundled_pairs().pairs, progress=progress)
    scores = [score for part in parts for score in part]
    everything = accuracies(scores, ())[0]
    return Estimate(everything.accuracy, everything.low, everything.high)
