"""The list of labels: found in the training data, or given by the checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def order_labels(names: Iterable[str]) -> tuple[str, ...]:
    """Return labels in order: numbers by size, others alphabetically, the tag O first.

    >>> order_labels(["10", "2"]), order_labels(["B-PER", "O", "B-LOC"])
    (('2', '10'), ('O', 'B-LOC', 'B-PER'))
    """
    labels = set(names)
    if all(label.lstrip("-").isdecimal() for label in labels):
        return tuple(sorted(labels, key=lambda label: (int(label), label)))
    return tuple(sorted(labels, key=lambda label: (label != "O", label)))


def balanced_weights(targets: NDArray[np.int64], num_labels: int) -> list[float]:
    """Return weights that balance the classes: N / (C x examples of the class).

    A class without an example gets 0.

    Source: `class_weight="balanced"` of scikit-learn.
    """
    counts = np.bincount(targets[targets >= 0], minlength=num_labels)
    total = counts.sum()
    return [float(total / (num_labels * count)) if count else 0.0 for count in counts]


def describe_unseen(label: str, labels: Sequence[str]) -> str:
    """Return a part of a sentence on a label that is not in the list."""
    listed = ", ".join(repr(known[:40]) for known in labels[:5])
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    return f"the label {label[:40]!r}, which is none of {listed}{more}"
