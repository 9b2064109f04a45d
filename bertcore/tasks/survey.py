"""A survey of all rows of a labelled file: their number, their labels, and a sample."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import Example, named_labels
from bertcore.data.files import BadRows
from bertcore.data.labels import MAX_LABELS
from bertcore.tasks.read import file_labels, read_examples
from bertcore.tasks.registry import find_task

SAMPLE = 512
"""Examples that are kept, drawn at random."""
ROWS_AT_ONCE = 5000
"""Examples between two calls of `on_rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The content of a file as a task reads it."""

    num_examples: int
    labels: dict[str, int]
    """How often each occurs, the most frequent first; {} where answers are no labels. At most
    MAX_LABELS + 1, with which none can be learned."""
    sample: tuple[Example, ...]
    """At most SAMPLE examples, each as likely as any other."""
    num_bad: int
    """Rows that cannot be used."""
    first_bad: str
    """A sentence on the first of them; "" if there is none."""
    notes: tuple[str, ...] = ()
    """What else is to be said of the file: rows without a label, and what labels stand for."""


def survey(
    path: Path,
    task: str,
    *,
    columns: Columns = USUAL,
    labels: Sequence[str] | None = None,
    on_rows: Callable[[int], None] = lambda number: None,
) -> Survey:
    """Return a survey of a file; memory is bounded, whatever its size.

    Args:
        path, columns: As for `read_task_data`.
        task: A name of TASKS.
        labels: Those that are known: rows with others are bad; None takes those of the file.
        on_rows: Called with the number of examples from time to time; may raise to stop.

    ValueError if the file cannot be read.
    """
    chosen = find_task(task)
    bad = BadRows(skip=True)
    rng = random.Random(0)
    counts: Counter[str] = Counter()
    sample: list[Example] = []
    number = 0
    found = file_labels(chosen, labels, columns)
    for example in read_examples(path, chosen, found, columns=columns, bad_rows=bad):
        if number % ROWS_AT_ONCE == 0:
            on_rows(number)
        number += 1
        if chosen.has_labels:
            _count(counts, example)
        if len(sample) < SAMPLE:
            sample.append(example)
        elif (place := rng.randrange(number)) < SAMPLE:
            sample[place] = example
    return Survey(
        num_examples=number,
        labels=dict(counts.most_common()),
        sample=tuple(sample),
        num_bad=bad.num,
        first_bad=bad.first,
        notes=tuple(note for note in bad.notes() if note != bad.sentence()),
    )


def _count(counts: Counter[str], example: Example) -> None:
    """Count an example's labels; a named label that no text has counts 0."""
    for label in named_labels(example):
        if len(counts) <= MAX_LABELS:
            counts.setdefault(label, 0)
    for label in example.labels:
        if label in counts:
            counts[label] += 1
