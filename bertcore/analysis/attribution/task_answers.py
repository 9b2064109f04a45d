"""What a fine-tuned model says of one text: labels, tags, a score, answers; and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.attribution.task_input import TaskInput, run_task, whole
from bertcore.analysis.attribution.task_target import (
    ClassTarget,
    ScoreTarget,
    SpanTarget,
    TagTarget,
    Target,
)
from bertcore.finetuning.data.questions import MAX_ANSWER_TOKENS
from bertcore.finetuning.model import TaskModel

INSPECTED = ("classify", "pair", "regress", "tag", "qa")
"""Tasks whose models can be looked at one text at a time."""


@dataclass(frozen=True, slots=True)
class SpanAnswer:
    """A piece of the text as an answer."""

    text: str
    start: int
    """Its first token."""
    end: int
    """Its last token."""
    probability: float
    """p(start) p(end)."""


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What a model says of one input of T tokens and W words."""

    task: str
    """Of INSPECTED."""
    labels: tuple[str, ...]
    """C names; () for a score and for answers."""
    probabilities: NDArray[np.float32]
    """[C] of a text, [W, C] of each word's first token ("tag"), else [0]."""
    score: float | None
    """Of a regression."""
    spans: tuple[SpanAnswer, ...]
    """Of "qa": the best answers, the best first."""
    no_answer: float | None
    """Of "qa": p(start) p(end) of [CLS], by which SQuAD 2.0 says that there is none."""

    @property
    def best(self) -> int:
        """The most probable label of a text."""
        return int(self.probabilities.argmax())

    def tag(self, word: int) -> int:
        """The most probable label of a word."""
        return int(self.probabilities[word].argmax())


def check_task(model: TaskModel) -> None:
    """Make sure that the model is of a kind that answers one text or pair.

    Raises:
        ValueError: If it chooses among several endings.
    """
    if model.task.name not in INSPECTED:
        raise ValueError(
            f"this checkpoint is for the task {model.task.name!r}, which weighs several texts "
            "against each other; one text at a time is looked at for "
            f"{', '.join(INSPECTED)}. Score it with bertscope evaluate --task {model.task.name}."
        )


def answer(model: TaskModel, source: TaskInput, *, num_spans: int = 5) -> TaskAnswer:
    """Return what the model says of an input.

    Args:
        model: Of any task of INSPECTED.
        source: Of "qa" the question with its text as the second one.
        num_spans: Answers to return, at most.

    Raises:
        ValueError: If the task is another, or of "qa" there is no text to look in.
    """
    check_task(model)
    if model.task.name == "qa" and source.text_pair is None:
        raise ValueError("a question needs a text to look in. Give it as the second text.")
    (logits,) = run_task(model, [whole(source)])
    return answer_of(model, source, logits, num_spans=num_spans)


def answer_of(
    model: TaskModel, source: TaskInput, logits: Tensor, *, num_spans: int = 5
) -> TaskAnswer:
    """Return what logits say, [C] or [T, C]; as `answer`."""
    task, none = model.task.name, np.empty(0, dtype=np.float32)
    if task == "regress":
        return TaskAnswer(task, (), none, float(logits[0]), (), None)
    if task == "qa":
        spans, no_answer = best_spans(source, logits, num_spans)
        return TaskAnswer(task, (), none, None, spans, no_answer)
    if task == "tag":
        logits = logits[[word.start for word in source.words]]
    return TaskAnswer(task, model.labels, torch.softmax(logits, -1).numpy(), None, (), None)


def best_spans(
    source: TaskInput, logits: Tensor, num_spans: int
) -> tuple[tuple[SpanAnswer, ...], float]:
    """Return the most probable answers in text B, and the probability of none.

    Starts and ends are normalised over all tokens of the row, as the model was trained; an answer
    lies in text B and has at most 30 tokens.

    Args:
        source: A question and a text.
        logits: [T, 2].
        num_spans: At most so many.

    Source: Devlin et al. 2019, section 4.2.
    """
    starts, ends = torch.softmax(logits.float(), 0).unbind(-1)
    inside = torch.tensor([text == 1 for text in source.encoding.text_ids])
    table = starts[:, None] * ends
    length = torch.arange(len(starts)) - torch.arange(len(starts))[:, None]
    allowed = inside[:, None] & inside & (length >= 0) & (length < MAX_ANSWER_TOKENS)
    table = table.masked_fill(~allowed, -1.0)
    count = min(num_spans, int(allowed.sum()))
    values, places = table.flatten().topk(count)
    found = []
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        start, end = divmod(place, len(starts))
        offsets = source.encoding.offsets
        text = (source.text_pair or "")[offsets[start][0] : offsets[end][1]]
        found.append(SpanAnswer(text, start, end, value))
    return tuple(found), float(starts[0] * ends[0])


def usual_target(found: TaskAnswer, source: TaskInput, word: int = 1) -> Target:
    """Return what is explained unless another is chosen: the answer that was given.

    Args:
        found: Of `answer`.
        source: The same input.
        word: Of "tag": whose tag.

    Raises:
        ValueError: If "qa" has no answer to explain.
    """
    if found.task == "regress":
        return ScoreTarget()
    if found.task == "tag":
        return TagTarget(source.words[word].start, found.tag(word))
    if found.task != "qa":
        return ClassTarget(found.best)
    if not found.spans:
        raise ValueError("the text holds no token that could be an answer. Give a longer text.")
    return SpanTarget(found.spans[0].start, found.spans[0].end)
