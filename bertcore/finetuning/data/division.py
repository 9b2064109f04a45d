"""Divide one file of examples into training and dev data, or draw a sample from it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import (
    ChoiceExample,
    Example,
    LabelsExample,
    QuestionExample,
    TaggedExample,
    TextExample,
)
from bertcore.data.files import BadRows
from bertcore.data.labels import why_no_labels
from bertcore.finetuning.data.hub_data import kept_file, write_rows
from bertcore.tasks import Task, find_task
from bertcore.tasks.read import read_examples

MOST_HELD_OUT = 0.5
GROUP = "group"
"""Column of what balances the examples, in files that `divide` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Which examples of a file are used, and for what."""

    held_out: float | None = None
    """Fraction of the examples to score on; None: they come from a separate file."""
    sample: int | None = None
    """Examples to use, drawn at random; None takes all."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.held_out is not None and not 0 < self.held_out <= MOST_HELD_OUT:
            raise ValueError(
                f"held_out is {self.held_out:g}; expected more than 0 and at most {MOST_HELD_OUT}."
            )
        if self.sample is not None and self.sample < 2:
            raise ValueError(f"sample is {self.sample}; expected at least 2.")


def divide(
    path: Path,
    folder: Path,
    division: Division,
    *,
    task: str,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    groups: Mapping[int, str] | None = None,
) -> tuple[str, ...]:
    """Write the examples of a file to `kept_file`s; return sentences on how it was read.

    For each label, one in every 1 / held_out examples is held out, at random; but the first example
    of a label is used for training, so that no unseen label is scored. Consecutive questions on one
    text stay together. Read the written files with `columns_of_division`.

    Args:
        path: The file, which is read several times, one row at a time.
        folder: The folder for the files; dev data are written only with `held_out`.
        division: The sample to draw and the fraction to hold out.
        task, columns, skip_bad_rows: As for `read_task_data`.
        groups: Group of each row, written to the column `GROUP`; None writes no such column.

    Raises:
        ValueError: As `read_task_data`; or if nothing is left to score on, or the sample is too
            small to have every label.
        OSError: If a file cannot be written.
    """
    chosen_task = find_task(task)
    bad = BadRows(skip=skip_bad_rows)

    def read(bad_rows: BadRows) -> Iterable[Example]:
        return read_examples(path, chosen_task, columns=columns, bad_rows=bad_rows)

    chosen = None
    if division.sample is not None:
        rows = read(BadRows(skip=skip_bad_rows))
        chosen = _Countable.of(rows, has_labels=chosen_task.has_labels).sample(division)

    def part(bad_rows: BadRows, *, is_train: bool) -> Iterator[dict[str, Any]]:
        kept = (e for i, e in enumerate(read(bad_rows)) if chosen is None or i in chosen)
        draw = _Draw(chosen_task, division)
        chosen_ones = (example for example in kept if draw(example) != is_train)
        return (_row(example, groups) for example in chosen_ones)

    write = partial(write_rows, task=task, source=str(path))
    unfinished = folder / ".train.partial"  # hub data are in the folder of the result
    write(part(bad, is_train=True), unfinished)
    if division.held_out is not None:
        dev = iter(part(BadRows(skip=skip_bad_rows), is_train=False))
        first = next(dev, None)
        if first is None:
            raise ValueError(_why_none_is_held_out(path, read(BadRows(skip=True)), division))
        write(chain([first], dev), kept_file(folder, task=task, is_train=False))
    unfinished.replace(kept_file(folder, task=task, is_train=True))
    return tuple(bad.notes())


def write_samples(
    path: Path,
    folders: Mapping[Path, Division],
    *,
    task: str,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    groups: Mapping[int, str] | None = None,
) -> tuple[str, ...]:
    """Write several samples of a file, each as `divide` would; return sentences as it does.

    However many there are, the file is read twice; the drawn examples are in memory.

    Args:
        folders: The new folder of each sample, and its division, without `held_out`.
        task, columns, skip_bad_rows, groups: As for `divide`.

    ValueError or OSError as `divide`.
    """
    chosen_task, bad = find_task(task), BadRows(skip=skip_bad_rows)

    def read(bad_rows: BadRows) -> Iterable[Example]:
        return read_examples(path, chosen_task, columns=columns, bad_rows=bad_rows)

    every = _Countable.of(read(BadRows(skip=skip_bad_rows)), has_labels=chosen_task.has_labels)
    chosen = {folder: every.sample(division) for folder, division in folders.items()}
    wanted = frozenset[int]().union(*chosen.values())
    rows = {i: _row(e, groups) for i, e in enumerate(read(bad)) if i in wanted}
    for folder, numbers in chosen.items():
        folder.mkdir(parents=True)
        drawn = (rows[number] for number in sorted(numbers))
        target = kept_file(folder, task=task, is_train=True)
        write_rows(drawn, target, task=task, source=str(path))
    return tuple(bad.notes())


def _why_none_is_held_out(path: Path, examples: Iterable[Example], division: Division) -> str:
    reason = why_no_labels(Counter(label for example in examples for label in example.labels))
    if reason is not None:
        return f"{str(path)!r}: {reason}."
    return (
        f"{str(path)!r} has too few examples: holding out a fraction of {division.held_out:g} "
        "leaves none to score on. Hold out more, or give a file to score on."
    )


def columns_of_division(columns: Columns) -> Columns:
    """Return the columns for reading files written by `divide`."""
    return USUAL if columns.text_pair is None else Columns(text_pair="text_pair")


@dataclass(frozen=True, slots=True)
class _Countable:
    """The examples of a file by number, from which samples are drawn."""

    total: int
    firsts: Mapping[str, int]
    """Each label -> its first example."""

    @classmethod
    def of(cls, examples: Iterable[Example], *, has_labels: bool) -> _Countable:
        """Count the examples of a file."""
        firsts: dict[str, int] = {}
        total = 0
        for number, example in enumerate(examples):
            for label in example.labels if has_labels else ():
                firsts.setdefault(label, number)
            total += 1
        return cls(total, firsts)

    def sample(self, division: Division) -> frozenset[int]:
        """Return the numbers of the sample, or all, including the first example of each label.

        ValueError if there are more of these.
        """
        num, always = division.sample or self.total, set(self.firsts.values())
        if len(always) > num:
            raise ValueError(
                f"a sample of {num} examples cannot have each of the {len(self.firsts)} labels; "
                f"expected at least {len(always)}. Ask for more."
            )
        others = [number for number in range(self.total) if number not in always]
        wanted = min(len(others), num - len(always))
        return frozenset(always.union(random.Random(division.seed).sample(others, wanted)))


class _Draw:
    """Decides for each example in turn whether it is held out: one of each group in every block.

    Args:
        task: The task whose labels are the groups.
        division: Its blocks have 1 / held_out examples.
    """

    def __init__(self, task: Task, division: Division) -> None:
        self._has_labels = task.has_labels
        self._fraction = division.held_out
        self._rng = random.Random(division.seed)
        self._groups: dict[str, _Group] = {}
        self._seen: set[str] = set()
        self._last: tuple[str, bool] | None = None
        """Text of the last question, and whether it was held out."""

    def __call__(self, example: Example) -> bool:
        if self._fraction is None:
            return False
        if isinstance(example, QuestionExample):
            if self._last is None or self._last[0] != example.context:
                self._last = example.context, self._group("").draw(self._fraction, self._rng)
            return self._last[1]
        labels = example.labels if self._has_labels else ()
        is_new = not self._seen.issuperset(labels)
        self._seen.update(labels)
        group = self._group(labels[0] if len(labels) == 1 else "")
        is_drawn = group.draw(self._fraction, self._rng)
        return is_drawn and not is_new

    def _group(self, name: str) -> _Group:
        return self._groups.setdefault(name, _Group())


@dataclass(slots=True)
class _Group:
    count: int = 0
    block: int = 0
    end: int = 0
    """Of the block: the first example of the next one."""
    target: int = 0

    def draw(self, fraction: float, rng: random.Random) -> bool:
        if self.count == self.end:
            self.block += 1
            self.end = max(self.count + 1, round(self.block / fraction))
            # The very first one is used for training.
            self.target = rng.randrange(max(self.count, 1), max(self.end, 2))
        self.count += 1
        return self.count - 1 == self.target


def _row(example: Example, groups: Mapping[int, str] | None) -> dict[str, Any]:
    """Return the columns of an example, with usual names, and that of its group."""
    columns = _columns_of(example)
    return columns if groups is None else {**columns, GROUP: groups.get(example.row, "")}


def _columns_of(example: Example) -> dict[str, Any]:
    if isinstance(example, TextExample):
        pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
        return {"text": example.text, **pair, "label": example.answer}
    if isinstance(example, LabelsExample):
        pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
        said = {name: int(name in example.labels) for name in example.asked}
        return {"text": example.text, **pair, "label": said or list(example.labels)}
    if isinstance(example, TaggedExample):
        return {"words": example.words, "tags": example.tags}
    if isinstance(example, QuestionExample):
        texts, starts = [text for text, _ in example.answers], [at for _, at in example.answers]
        answers = {"text": texts, "answer_start": starts}
        fields = {"id": example.id, "question": example.question, "context": example.context}
        return {**fields, "answers": answers}
    assert isinstance(example, ChoiceExample)
    endings = {f"ending{i}": choice for i, choice in enumerate(example.choices)}
    return {"sent1": example.text, **endings, "label": example.answer}
