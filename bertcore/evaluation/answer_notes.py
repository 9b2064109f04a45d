"""What the scores of a labelled file do not show by themselves: copies, one class alone, ties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.data.labels import some_labels
from bertcore.evaluation.assignment import assignment_notes
from bertcore.evaluation.metrics import yes_or_no_notes

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
    """Return a sentence on inputs that are learned and scored; none if there are none.

    Args:
        train, dev: Hashes of the inputs.
    """
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

    Args:
        gold, predicted: Classes, [N]; or whether a text has and was given each label, [N, C].
        labels: Names of the C classes; (): the classes are places, of which nothing is said.
        inputs: What was scored.
    """
    alone = _of_sets if gold.ndim == 2 else _of_classes
    said = alone(gold, predicted, labels) if labels else []
    return [*said, *assignment_notes(gold, predicted, labels, inputs.different), *inputs.notes()]


def _of_classes(gold: NDArray[Any], predicted: NDArray[Any], labels: Sequence[str]) -> list[str]:
    notes = []
    true, given = ({labels[i] for i in np.unique(x).astype(int)} for x in (gold, predicted))
    if len(true) == 1 and len(gold) > 1:
        notes.append(
            f"All {len(gold):,} true answers are {_only(true)}: accuracy is how often that is "
            "given, and F1 and Matthews' correlation cannot tell a good model from a constant one."
        )
    if len(given) == 1 and len(gold) >= _FEWEST:
        notes.append(
            f"The model answers {_only(given)} to all {len(gold):,}: its accuracy is the share of "
            "that label in the file."
        )
    return notes


def _only(names: Collection[str]) -> str:
    return some_labels([*names])


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
