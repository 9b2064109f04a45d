"""Occlusion importance: the change in an answer when a word is removed."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.attribution.task_input import OCCLUSIONS, run_task, whole, without
from bertcore.tasks import TaskInput
from bertcore.tasks.model import TaskModel
from bertcore.tasks.targets import Target


@dataclass(frozen=True, slots=True)
class Occlusion:
    """The effect of each of W words on a target."""

    importance: NDArray[np.float32]
    """The target's value with the word minus that without it, [W]; NaN for [CLS] and [SEP]."""
    measure: NDArray[np.float32]
    """The probability (or score) without the word, [W]; NaN for [CLS] and [SEP]."""
    value: float
    """The target's value with all words."""
    whole: float
    """The probability (or score) with all words."""


def occlusion(
    model: TaskModel, source: TaskInput, target: Target, *, how: str = OCCLUSIONS[0]
) -> Occlusion:
    """Return how much the target loses when each word is removed in turn.

    Two words with the same meaning compensate for each other: removing one of them changes little.

    Args:
        target: What is followed.

    ValueError as `without`; or if the answer is NaN.

    Source: Li, Monroe and Jurafsky 2016, "Understanding neural networks through representation
        erasure", section 4; here the difference of log-odds instead of the relative one, and whole
        words.
    """
    words = source.text_words
    rows = [whole(source), *(without(model, source, [word], how) for word in words)]
    logits = run_task(model, rows)
    values = torch.stack([target.value(row_logits[None])[0] for row_logits in logits])
    measures = torch.stack([target.measure(row_logits[None])[0] for row_logits in logits])
    importance = np.full(len(source.words), np.nan, dtype=np.float32)
    remaining = importance.copy()
    importance[words] = (values[0] - values[1:]).numpy()
    remaining[words] = measures[1:].numpy()
    return Occlusion(importance, remaining, float(values[0]), float(measures[0]))
