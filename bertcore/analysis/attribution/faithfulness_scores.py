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
from bertcore.training.tasks import TaskInput
from bertcore.training.tasks.answers import Target
from bertcore.training.tasks.model import TaskModel

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Fractions of the words counted as important, as in DeYoung et al. 2020."""
NUM_RANDOM = 20


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Both measures of one order of the words, in units of the target's measure."""

    comprehensiveness: NDArray[np.float32]
    """The drop without the most important words, by fraction (BINS); high is good."""
    sufficiency: NDArray[np.float32]
    """The drop with only these words, by fraction; low is good, also below 0."""

    @property
    def mean_comprehensiveness(self) -> float:
        """The area over the perturbation curve: the mean over the bins."""
        return float(self.comprehensiveness.mean())

    @property
    def mean_sufficiency(self) -> float:
        """The mean over the bins."""
        return float(self.sufficiency.mean())


@dataclass(frozen=True, slots=True)
class OrderScore:
    """A measure of one order of the words, or the mean over several with their range."""

    order: str
    """The method that it is by, or "random"."""
    measure: str
    """Which of both, and which way is good."""
    lost: float
    low: float
    """NaN for one order."""
    high: float


def order_scores(orders: Mapping[str, Sequence[Faithfulness]]) -> list[OrderScore]:
    """Return both measures of each method, whose orders may be several."""
    rows = []
    for order, scores in orders.items():
        both = {
            "Comprehensiveness (high is good)": [each.mean_comprehensiveness for each in scores],
            "Sufficiency (low is good)": [each.mean_sufficiency for each in scores],
        }
        for measure, lost in both.items():
            ends = (min(lost), max(lost)) if len(lost) > 1 else (math.nan, math.nan)
            rows.append(OrderScore(order, measure, float(np.mean(lost)), *ends))
    return rows


def faithfulness(
    model: TaskModel,
    source: TaskInput,
    target: Target,
    importances: Mapping[str, NDArray[np.floating]],
    *,
    how: str = OCCLUSIONS[0],
) -> dict[str, Faithfulness]:
    """Return the faithfulness of several explanations.

    `importances` has the importance of each word by method, [W]; high values support the target.
    [CLS] and [SEP] always stay. ValueError if the texts have no word, or as `without`.

    Source: DeYoung et al. 2020, "ERASER", section 4.2. The mean is over the bins, as in the
        authors' script; the paper's formula divides by one more. Here words instead of tokens.
    """
    orders = {
        name: sorted(source.text_words, key=lambda word: -float(values[word]))
        for name, values in importances.items()
    }
    scores = _of_orders(model, source, target, list(orders.values()), how)
    return dict(zip(orders, scores, strict=True))


def random_faithfulness(
    model: TaskModel, source: TaskInput, target: Target, *, how: str = OCCLUSIONS[0]
) -> list[Faithfulness]:
    """Return the same scores of NUM_RANDOM word orders: the baseline for an explanation."""
    rng = np.random.default_rng(0)
    orders = [rng.permutation(source.text_words).tolist() for _ in range(NUM_RANDOM)]
    return _of_orders(model, source, target, orders, how)


def _of_orders(
    model: TaskModel, source: TaskInput, target: Target, orders: Sequence[Sequence[int]], how: str
) -> list[Faithfulness]:
    words = source.text_words
    if not words:
        raise ValueError("the text has no word to remove. Write at least one.")
    counts = [math.ceil(fraction * len(words) - 1e-9) for fraction in BINS]
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
    comprehensiveness, sufficiency = (
        np.reshape([lost[part] for part in parts], (len(orders), len(counts))).astype(np.float32)
        for parts in (taken, [frozenset(words) - removed for removed in taken])
    )
    return list(map(Faithfulness, comprehensiveness, sufficiency))
