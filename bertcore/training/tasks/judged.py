"""A model's predictions on labelled data: batches of logits, scores, and judged answers."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.data.examples import Example
from bertcore.training.evaluation.metrics import Metrics, Scores
from bertcore.training.tasks.rows import Rows
from bertcore.training.tasks.task_data import TaskData

ROWS_AT_ONCE = 2000
"""Examples of a part of a file."""
Intervals = dict[str, tuple[float, float]]


Logits = Sequence[NDArray[np.float32]]
"""Of each row, [C] or [T, C]."""


class Outputs(NamedTuple):
    """Logits of a batch of B examples."""

    examples: NDArray[np.int64]
    """Numbers of the examples, [B]."""
    logits: NDArray[np.float32]
    """[B, C], or of each token [B, T, C]."""
    loss: float
    """Mean over the targets of the batch."""
    num_targets: float


class Scored(NamedTuple):
    """Scores, and the prediction for each example."""

    scores: Scores
    predictions: list[dict[str, Any]]
    """A JSON object each, in the order of the file."""


class ExampleBlock(NamedTuple):
    """Consecutive examples of a file, and the corresponding inputs of the network."""

    first: int
    """Examples of the file before these."""
    examples: Sequence[Example]
    data: TaskData


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """One wrong answer with its text."""

    row: int
    """Of the file, from 1: its row; of tags the line where the sentence begins."""
    text: str
    text_pair: str | None
    gold: str
    predicted: str
    severity: float
    """Confidence of the wrong answer; of a regression its distance."""
    word: int | None = None
    """Of tags: which word of the sentence, from 0; the most confident wrong one."""
    choices: tuple[str, ...] = ()
    """Of "choice": all of them."""


class WorstAnswers:
    """The most severe of many wrong answers, with shortened texts."""

    def __init__(self, most: int, longest_text: int) -> None:
        self.most, self.longest_text = most, longest_text
        self.num_seen = 0
        self._heap: list[tuple[float, int, WrongAnswer]] = []

    def add(self, wrong: WrongAnswer) -> None:
        """Keep an answer if it is among the most severe so far."""
        self.num_seen += 1
        end, pair = self.longest_text, wrong.text_pair
        short = replace(
            wrong,
            text=wrong.text[:end],
            text_pair=None if pair is None else pair[:end],
            gold=wrong.gold[:end],
            predicted=wrong.predicted[:end],
        )
        entry = (wrong.severity, -self.num_seen, short)  # the number: answers have no order
        (heapq.heappush if len(self._heap) < self.most else heapq.heappushpop)(self._heap, entry)

    def sorted(self) -> tuple[WrongAnswer, ...]:
        """Return the kept ones, the most severe first, of equals the one that was added first."""
        ordered = sorted(self._heap, key=lambda entry: entry[:2], reverse=True)
        return tuple(wrong for *_, wrong in ordered)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedAnswers:
    """N answers to a labelled file: one per text, or for tags one per word.

    Equal only to itself, which makes it hashable.
    """

    gold: NDArray[np.float32] | NDArray[np.int32] | NDArray[np.bool_]
    """Class or score of each answer, [N]; of "qa" 1 where there is an answer, else 0; of
    "multilabel" whether a text has each label, [N, C]."""
    predicted: NDArray[np.float32] | NDArray[np.int32] | NDArray[np.bool_]
    """[N]; of "qa" 1 where one was given; of "multilabel" [N, C]."""
    confidence: NDArray[np.float32]
    """Probability of the given answer, [N]; of "multilabel" of all its labels together; NaN of a
    regression."""
    quality: NDArray[np.float32]
    """[N]: 1 for right, 0 for wrong; of "qa" and "multilabel" the F1; of a regression the
    distance."""
    right: NDArray[np.bool_]
    """[N]; of "qa" and "multilabel" whether it matches exactly; of a regression all False."""
    lengths: NDArray[np.int32]
    """Tokens of each answer's text or sentence, special ones included, [N]."""
    sentences: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """Words of each sentence of "tag", [num_examples]; else empty."""


Predicted = tuple[JudgedAnswers, list[dict[str, Any]]]
"""Answers, and a JSON object for each."""


class Judged(NamedTuple):
    """Judged answers to some examples, and the wrong ones among them with their texts."""

    answers: JudgedAnswers
    errors: list[WrongAnswer]


FileJudge = Callable[[ExampleBlock, Logits], Judged]
"""Judges a part of a file by the logits of its rows."""


def joined(parts: Sequence[JudgedAnswers]) -> dict[str, NDArray[Any]]:
    """Return the fields of JudgedAnswers by name, concatenated over all parts."""
    names = [each.name for each in fields(JudgedAnswers)]
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}


def logits_of_rows(
    outputs: Iterable[Outputs], rows: Rows
) -> tuple[list[NDArray[np.float32]], float]:
    """Return the logits of each example, [C] or [T, C], in order, and the mean loss of a target."""
    logits: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(rows)
    lengths, loss, num = rows.lengths, 0.0, 0.0
    for batch in outputs:
        for values, example in zip(batch.logits, batch.examples, strict=True):
            logits[example] = values[: lengths[example]] if values.ndim == 2 else values
        loss, num = loss + batch.loss * batch.num_targets, num + batch.num_targets
    return logits, loss / max(1, num)


class MetricTable(NamedTuple):
    """Metrics of judged answers."""

    metrics: Metrics
    intervals: Intervals
    """95%, as those of `Scores`."""
    confusion: NDArray[np.int64] | None = None
    """[C, C], gold by row; None without classes."""
    by_type: dict[str, dict[str, float]] = {}  # noqa: RUF012 - never changed
    """As in `Scores`."""
