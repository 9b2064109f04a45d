"""Faithfulness of an explanation: comprehensiveness and sufficiency.

    comprehensiveness = p(all words) - p(without the most important words)
    sufficiency       = p(all words) - p(the most important words alone)

A good explanation has a high comprehensiveness and a low sufficiency, and both are better than
those of words in random order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.attribution.task_input import OCCLUSIONS, run_task, whole, without
from bertcore.tasks import TaskInput
from bertcore.tasks.answers import Target
from bertcore.tasks.model import TaskModel

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Fractions of the words counted as important, as in DeYoung et al. 2020."""
NUM_RANDOM = 20


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Both measures of one order of the words, in units of the target's measure."""

    bins: tuple[float, ...]
    """Fractions of the words, [K]."""
    num_words: tuple[int, ...]
    """The number of words for each fraction, rounded up, [K]."""
    comprehensiveness: NDArray[np.float32]
    """The drop without these words, [K]; high is good."""
    sufficiency: NDArray[np.float32]
    """The drop with only these words, [K]; low is good, also below 0."""

    @property
    def mean_comprehensiveness(self) -> float:
        """The area over the perturbation curve: the mean over the bins."""
        return float(self.comprehensiveness.mean())

    @property
    def mean_sufficiency(self) -> float:
        """The mean over the bins."""
        return float(self.sufficiency.mean())


def faithfulness(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    importances: Mapping[str, NDArray[np.floating]],
    *,
    how: str = OCCLUSIONS[0],
    bins: Sequence[float] = BINS,
) -> dict[str, Faithfulness]:
    """Return the faithfulness of several explanations.

    Args:
        importances: Importance of each word by method, [W]; high values support the target. [CLS]
            and [SEP] always stay.
        how: How words are removed, one of OCCLUSIONS.
        bins: Fractions of the words, each above 0 and at most 1; at least one word is taken.

    ValueError if a bin is out of range, the texts have no word, or as `without`.

    Source: DeYoung et al. 2020, "ERASER", section 4.2. The mean is over the bins, as in the
        authors' script; the paper's formula divides by one more. Here words instead of tokens.
    """
    orders = {
        name: sorted(source.text_words, key=lambda word: -float(values[word]))
        for name, values in importances.items()
    }
    scores = _of_orders(model, source, target, list(orders.values()), how, tuple(bins))
    return dict(zip(orders, scores, strict=True))


def random_faithfulness(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    *,
    how: str = OCCLUSIONS[0],
    num: int = NUM_RANDOM,
    seed: int = 0,
) -> list[Faithfulness]:
    """Return the same scores of `num` random word orders: the baseline for an explanation."""
    rng = np.random.default_rng(seed)
    orders = [[int(word) for word in rng.permutation(source.text_words)] for _ in range(num)]
    return _of_orders(model, source, target, orders, how, BINS)


def _of_orders(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    orders: Sequence[Sequence[int]],
    how: str,
    bins: tuple[float, ...],
) -> list[Faithfulness]:
    words = source.text_words
    if not words:
        raise ValueError("the text has no word to remove. Write at least one.")
    if not bins or not all(0 < fraction <= 1 for fraction in bins):
        raise ValueError(f"bins are {bins}; expected fractions above 0 and at most 1.")
    counts = tuple(max(1, math.ceil(fraction * len(words) - 1e-9)) for fraction in bins)
    # The same set of words often occurs twice: each set is run once.
    taken = [frozenset(order[:count]) for order in orders for count in counts]
    sets = list(
        dict.fromkeys(part for removed in taken for part in (removed, frozenset(words) - removed))
    )
    rows = [whole(source), *(without(model, source, gone, how) for gone in sets)]
    measures = torch.stack(
        [target.measure(logits[None])[0] for logits in run_task(model, rows)]
    ).numpy()
    lost = dict(zip(sets, measures[0] - measures[1:], strict=True))
    scores = []
    for first in range(0, len(taken), len(counts)):
        mine = taken[first : first + len(counts)]
        scores.append(
            Faithfulness(
                bins,
                counts,
                np.array([lost[removed] for removed in mine], dtype=np.float32),
                np.array([lost[frozenset(words) - removed] for removed in mine], dtype=np.float32),
            )
        )
    return scores
