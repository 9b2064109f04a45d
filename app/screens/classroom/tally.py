"""What a class answered to a lesson, counted: by step, by answer, and what is often wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ...server.class_store import Answer

T = TypeVar("T")

MOST_BARS = 12
"""Different numbers up to which each has a bar of its own; of more, ten ranges have one."""
_MOST_TEXTS = 3
"""Answers that are named of a kind of mistake."""
_OUTER = 0.05
"""Share of the numbers in the first and the last range: one odd number must not flatten all."""


class Misconception(NamedTuple):
    """A wrong answer that several learners may have given."""

    step: int
    text: str
    """What most of them gave; on sentences of their own one mistake may be several numbers."""
    num_learners: int
    num_answers: int
    """All answers to the step."""
    why: str
    """What the last of them was told, in Markdown."""


class Bar(NamedTuple):
    """How many gave an answer, or a number of a range."""

    text: str
    num_right: int
    num_wrong: int
    """On their own sentences: one answer may be right on one and wrong on another."""


def of_step(answers: Sequence[Answer], step: int) -> list[Answer]:
    """Return the answers to a step."""
    return [answer for answer in answers if answer.step == step]


def misconceptions(answers: Sequence[Answer], most: int = 5) -> list[Misconception]:
    """Return the most frequent mistakes in a lesson, by kind, the most frequent first."""
    totals = _counted((answer.step, answer) for answer in answers)
    wrong = [answer for answer in answers if not answer.is_right]
    counts = _counted(((answer.step, answer.kind), answer) for answer in wrong)
    texts = _counted(((answer.step, answer.kind, answer.text), answer) for answer in wrong)
    given: dict[tuple[int, str], list[str]] = defaultdict(list)
    for (step, kind, text), _ in texts.most_common():
        given[step, kind].append(text)
    why = {(answer.step, answer.kind): answer.why for answer in wrong}
    return [
        Misconception(
            step, ", ".join(given[step, kind][:_MOST_TEXTS]), count, totals[step], why[step, kind]
        )
        for (step, kind), count in counts.most_common(most)
    ]


def _counted(answers: Iterable[tuple[T, Answer]]) -> Counter[T]:
    counts: Counter[T] = Counter()
    for key, answer in answers:
        counts[key] += answer.num_learners
    return counts


def bars(answers: Sequence[Answer]) -> list[Bar]:
    """Return what was answered to a step: choices by how often, numbers in their order."""
    numbers = {answer.number for answer in answers if answer.number is not None}
    if len(numbers) > MOST_BARS:
        return _ranges([answer for answer in answers if answer.number is not None])
    counts = _counted((answer.text, answer) for answer in answers)
    right = _counted((answer.text, answer) for answer in answers if answer.is_right)
    places = {answer.text: answer.number for answer in answers}
    ordered = sorted(counts, key=lambda text: (places[text] or 0.0, -counts[text], text))
    return [Bar(text, right[text], counts[text] - right[text]) for text in ordered]


def _ranges(answers: Sequence[Answer]) -> list[Bar]:
    """Return ten ranges of equal width, the first and the last open."""
    numbers, is_right = (
        np.repeat(values, [answer.num_learners for answer in answers])
        for values in zip(*((answer.number, answer.is_right) for answer in answers), strict=True)
    )
    low, high = np.quantile(numbers, [_OUTER, 1 - _OUTER])
    edges = np.linspace(low, high if high > low else low + 1, 11)
    ranges = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, 9)
    names = [f"{edges[k]:.3g} to {edges[k + 1]:.3g}" for k in range(10)]
    names[0], names[9] = f"below {edges[1]:.3g}", f"{edges[9]:.3g} and more"
    return [
        Bar(name, int(np.sum(is_right & (ranges == k))), int(np.sum(~is_right & (ranges == k))))
        for k, name in enumerate(names)
    ]
