"""A data set of a task as rows of the network, and labels as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.data.labels import order_labels
from bertcore.training.tasks.questions import Questions
from bertcore.training.tasks.rows import IGNORED, Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """A data set, ready for the network."""

    rows: Rows
    labels: tuple[str, ...]
    """The classes that targets stand for; () for scores, spans and choices."""
    num_examples: int
    """Texts, sentences, questions or choices in the file."""
    sentence_lengths: NDArray[np.int64] | None = None
    """Of "tag": words of each sentence; their targets follow one another in `rows`."""
    questions: Questions | None = None
    """Of "qa": the questions and their windows."""
    says_no: bool = False
    """Of "multilabel": whether the file says of each label whether a text has it."""
    file_rows: tuple[int, ...] = ()
    """Of each example its row in the file, from 1; of "tag" the line where the sentence begins; ()
    for "qa", whose questions have names."""
    notes: tuple[str, ...] = ()
    """What was cut or left out, a sentence each."""


def label_counts(data: TaskData) -> dict[str, int]:
    """Return how often each label occurs; of columns of 0 and 1 also those that do not."""
    targets = data.rows.targets
    if not data.labels:
        return {}
    if targets.ndim == 2:
        return dict(zip(data.labels, targets.sum(0).astype(int).tolist(), strict=True))
    places, counts = np.unique(targets[targets != IGNORED].astype(int), return_counts=True)
    return {data.labels[i]: int(count) for i, count in zip(places, counts, strict=True)}


class LabelNumbers:
    """Numbers labels as they occur, or as in `labels`; `finish` renumbers them in order."""

    def __init__(self, labels: Sequence[str] | None) -> None:
        self._known = labels
        self._ids = {label: i for i, label in enumerate(labels or ())}

    def number(self, label: str) -> int:
        """Return the label's number, a new one for a new label."""
        return self._ids.setdefault(label, len(self._ids))

    def finish(self, numbers: array[int]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the labels in order, and the targets; IGNORED stays."""
        targets = np.array(numbers, dtype=np.int64)
        if self._known is not None:
            return tuple(self._known), targets
        labels = order_labels(self._ids)
        order = {label: i for i, label in enumerate(labels)}
        moved = np.array([*(order[label] for label in self._ids), IGNORED], dtype=np.int64)
        return labels, moved[np.where(targets == IGNORED, len(labels), targets)]
