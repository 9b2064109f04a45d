"""What the scores of a labelled file do not show by themselves: copies, one class alone, ties."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.data.labels import some_labels, write_label_map
from bertcore.training.evaluation.metrics import yes_or_no_notes

_FEWEST = 10
"""Examples of which it says something that all were given the same answer."""


class Inputs(NamedTuple):
    """Inputs that were scored; of long texts and questions there are several an example."""

    num: int
    different: int

    @classmethod
    def of(cls, hashes: Sequence[int]) -> Inputs:
        """Return the numbers of inputs with these hashes."""
        return cls(len(hashes), len(set(hashes)))

    def notes(self) -> list[str]:
        """Return a sentence on copies; none if there are none."""
        copies = self.num - self.different
        if not copies:
            return []
        copy = "is a copy of another" if copies == 1 else "are copies of others"
        return [
            f"{copies:,} of {self.num:,} inputs {copy}: each counts as often as it occurs, and "
            "intervals are too narrow, because copies say nothing new."
        ]


def shared_notes(train: Sequence[int], dev: Sequence[int]) -> list[str]:
    """Return a sentence on inputs that are learned and scored; none if there are none."""
    learned = set(train)
    num = sum(one in learned for one in dev)
    if not num:
        return []
    return [
        f"{num:,} of {len(dev):,} inputs of the dev data are in the training data too: scores on "
        "them say what was learned by heart, not how the model does on new texts."
    ]


def class_notes(
    gold: NDArray[Any], predicted: NDArray[Any], labels: Sequence[str], inputs: Inputs
) -> list[str]:
    """Return sentences on the answers of a classifier, a tagger or several labels a text.

    Classes, [N]; or whether a text has and was given each label, [N, C]. Without labels the classes
    are places, of which nothing is said.
    """
    alone = _of_sets if gold.ndim == 2 else _of_classes
    said = alone(gold, predicted, labels) if labels else []
    return [*said, *assignment_notes(gold, predicted, labels, inputs.different), *inputs.notes()]


def _of_classes(gold: NDArray[Any], predicted: NDArray[Any], labels: Sequence[str]) -> list[str]:
    notes = []
    true, given = ({labels[i] for i in np.unique(x).astype(int)} for x in (gold, predicted))
    if len(true) == 1 and len(gold) > 1:
        notes.append(
            f"All {len(gold):,} true answers are {some_labels([*true])}: accuracy is how often "
            "that is given, and F1 and Matthews' correlation cannot tell a good model from a "
            "constant one."
        )
    if len(given) == 1 and len(gold) >= _FEWEST:
        notes.append(
            f"The model answers {some_labels([*given])} to all {len(gold):,}: its accuracy is the "
            "share of that label in the file."
        )
    return notes


def _of_sets(gold: NDArray[Any], predicted: NDArray[Any], labels: Sequence[str]) -> list[str]:
    notes = []
    absent = [label for place, label in enumerate(labels) if not gold[:, place].any()]
    if absent:
        notes.append(
            f"{len(absent)} of {len(labels)} labels occur in no text of the file "
            f"({some_labels(absent)}): each has an F1 of 0 in macro F1."
        )
    if not predicted.any() and len(gold) >= _FEWEST:
        notes.append(f"The model gives none of the {len(gold):,} texts a label.")
    return notes


def score_notes(
    gold: NDArray[np.float32], predicted: NDArray[np.float32], inputs: Inputs
) -> list[str]:
    """Return sentences on the scores of a regression, [N]."""
    notes = yes_or_no_notes(gold, predicted)
    for values, of in ((gold, "true"), (predicted, "predicted")):
        different = len(np.unique(values))
        if different == 1 < len(values):
            notes.append(
                f"All {len(values):,} {of} scores are {values[0]:.4g}, so nothing can correlate "
                "with them: 0 stands for no correlation."
            )
        elif values is predicted and 2 * different < len(values) and len(values) >= _FEWEST:
            notes.append(
                f"The {len(values):,} predicted scores have {different:,} different values: "
                "Spearman's correlation gives equal ones their mean rank."
            )
    return [*notes, *inputs.notes()]


_MOST_CHANCE = 1e-3
_LEAST_RIGHT, _TIMES = 0.6, 4
"""Share that is right under the other assignment, at least; and how much less it is under the
labels' own."""


class Assignment(NamedTuple):
    """An assignment under which the answers to some labels would be right."""

    pairs: dict[int, int]
    """From true classes to what is answered instead."""
    num: int
    """Examples of these classes."""
    own: int
    """Of these the right answers."""
    best: int
    """The right ones under the other assignment."""
    log_chance: float
    """ln of the probability, at most, that answers without any tie to the labels fit as well under
    one of the assignments."""


def better_assignment(
    matrix: NDArray[np.integer],
    rates: NDArray[np.float64] | None = None,
    *,
    independent: float = 1.0,
) -> Assignment | None:
    """Return the assignment of answers to labels that fits much better; None if there is none.

    Args:
        matrix: Examples by true class (row) and answered class (column), [C, C]. Where a text may
            have several labels: that have the one and were given the other.
        rates: Share of the examples that were given each class, [C]; None takes the columns.
        independent: Share of the examples that say something new: equal texts do not, nor do all
            words of a sentence.

    Source: ours: the best assignment (Kuhn 1955), and a bound on its probability by chance, C!
        assignments x a binomial tail at the rate at which chance would fit the best of them.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.stats import binom

    counts, total = matrix.sum(1), int(matrix.sum())
    num_classes = len(matrix)
    if num_classes < 2 or total == 0:
        return None
    rates = matrix.sum(0) / total if rates is None else rates
    rows, columns = linear_sum_assignment(matrix + np.eye(num_classes) / 2, maximize=True)
    moved = [(a, b) for a, b in zip(rows.tolist(), columns.tolist(), strict=True) if a != b]
    moved = [(a, b) for a, b in moved if matrix[a, b]]
    num = int(sum(counts[a] for a, _ in moved))
    own, best = int(sum(matrix[a, a] for a, _ in moved)), int(sum(matrix[a, b] for a, b in moved))
    if not num or best < _LEAST_RIGHT * num or own * _TIMES > best:
        return None
    places = [a for a, _ in moved]
    by_chance = counts[places][:, None] * rates[None]
    chance = by_chance[linear_sum_assignment(by_chance, maximize=True)].sum() / num
    fewer = np.floor(independent * np.array([best, num]))
    tail = float(binom.logsf(fewer[0] - 1, fewer[1], min(1.0, chance)))
    log_chance = min(0.0, lgamma(num_classes + 1) + tail)
    if log_chance > log(_MOST_CHANCE):
        return None
    return Assignment(dict(moved), num, own, best, log_chance)


def assignment_notes(
    gold: NDArray[Any], predicted: NDArray[Any], labels: Sequence[str], num_texts: int
) -> list[str]:
    """Return a sentence on labels that seem to be named in another order; none if they are not.

    Classes, [N]; or whether a text has and was given each label, [N, C]. Two classes of one name
    are one.
    """
    names = list(dict.fromkeys(labels))
    if len(names) < 2 or not len(gold):
        return []
    places = np.array([names.index(label) for label in labels])
    rates = None
    if gold.ndim == 2:
        matrix = gold.astype(np.int64).T @ predicted.astype(np.int64)
        rates = predicted.mean(0)
    else:
        matrix = np.zeros((len(names), len(names)), dtype=np.int64)
        np.add.at(matrix, (places[gold.astype(np.int64)], places[predicted.astype(np.int64)]), 1)
    found = better_assignment(matrix, rates, independent=min(1.0, num_texts / len(gold)))
    if found is None:
        return []
    pairs = [(names[a], names[b]) for a, b in found.pairs.items()]
    listed = ", ".join(f"{a[:40]!r} is {b[:40]!r}" for a, b in pairs[:5])
    more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
    power = int(-found.log_chance / log(10))
    label_map = write_label_map(dict(pairs), most=len(pairs))
    return [
        f"Labels seem to be named in another order: of {found.num:,} answers {found.own:,} are "
        f"right, but {found.best:,} would be if the file's {listed}{more}. By chance that happens "
        f"less than once in 10^{power} times. To read the file so: {label_map}; "
        "or correct id2label in config.json."
    ]
