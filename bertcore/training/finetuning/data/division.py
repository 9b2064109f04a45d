"""Divide one file of examples into training and dev data, or draw a sample from it."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
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
from bertcore.training.finetuning.data.hub_data import kept_file, write_rows
from bertcore.training.tasks import find_task
from bertcore.training.tasks.read import read_examples

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

    Dev data are written only with `held_out`. For each label, one in every 1 / held_out examples is
    held out, at random; but the first example of a label is used for training, so that no unseen
    label is scored. Consecutive questions on one text stay together. Read the written files with
    `columns_of_division`. The group of each row, if there are `groups`, is written to the column
    `GROUP`.

    ValueError as `read_task_data`; or if nothing is left to score on, or the sample is too small to
    have every label. OSError if a file cannot be written.
    """
    chosen_task = find_task(task)
    bad = BadRows(skip=skip_bad_rows)

    def read(bad_rows: BadRows) -> Iterable[Example]:
        return read_examples(path, chosen_task, columns=columns, bad_rows=bad_rows)

    chosen = None
    if division.sample is not None:
        rows = read(BadRows(skip=skip_bad_rows))
        [chosen] = _draw_sample(rows, [division], has_labels=chosen_task.has_labels)

    def part(bad_rows: BadRows, *, is_train: bool) -> Iterator[dict[str, Any]]:
        kept = (e for i, e in enumerate(read(bad_rows)) if chosen is None or i in chosen)
        drawn = _drawn(kept, division, has_labels=chosen_task.has_labels)
        return (_row(example, groups) for example, is_held in drawn if is_held != is_train)

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
    """Write several samples of a file, each to a new folder as `divide` would, without `held_out`.

    However many there are, the file is read twice; the drawn examples are in memory. ValueError or
    OSError as `divide`.
    """
    chosen_task, bad = find_task(task), BadRows(skip=skip_bad_rows)

    def read(bad_rows: BadRows) -> Iterable[Example]:
        return read_examples(path, chosen_task, columns=columns, bad_rows=bad_rows)

    every, has_labels = read(BadRows(skip=skip_bad_rows)), chosen_task.has_labels
    samples = _draw_sample(every, folders.values(), has_labels=has_labels)
    chosen = dict(zip(folders, samples, strict=True))
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


def _draw_sample(
    examples: Iterable[Example], divisions: Iterable[Division], *, has_labels: bool
) -> list[frozenset[int]]:
    """Return the numbers of each sample, or all, including the first example of each label."""
    firsts: dict[str, int] = {}
    total = 0
    for number, example in enumerate(examples):
        for label in example.labels if has_labels else ():
            firsts.setdefault(label, number)
        total += 1
    always, samples = set(firsts.values()), []
    others = [number for number in range(total) if number not in always]
    for division in divisions:
        num = division.sample or total
        if len(always) > num:
            raise ValueError(
                f"a sample of {num} examples cannot have each of the {len(firsts)} labels; "
                f"expected at least {len(always)}. Ask for more."
            )
        wanted = min(len(others), num - len(always))
        drawn = random.Random(division.seed).sample(others, wanted)
        samples.append(frozenset(always.union(drawn)))
    return samples


def _drawn(
    examples: Iterable[Example], division: Division, *, has_labels: bool
) -> Iterator[tuple[Example, bool]]:
    """Yield examples, and whether each is held out: one of each group in every block."""
    fraction, rng = division.held_out, random.Random(division.seed)
    groups: dict[str, Iterator[bool]] = defaultdict(lambda: _places(fraction or 1.0, rng))
    seen: set[str] = set()
    context, is_drawn = None, False
    for example in examples:
        if fraction is None:
            yield example, False
        elif isinstance(example, QuestionExample):
            if example.context != context:
                context, is_drawn = example.context, next(groups[""])
            yield example, is_drawn
        else:
            labels = example.labels if has_labels else ()
            is_new = not seen.issuperset(labels)
            seen.update(labels)
            is_drawn = next(groups[labels[0] if len(labels) == 1 else ""])
            yield example, is_drawn and not is_new


def _places(fraction: float, rng: random.Random) -> Iterator[bool]:
    """Yield without end whether a place is drawn: one in every block of 1 / fraction."""
    start = 0
    for block in count(1):
        end = max(start + 1, round(block / fraction))
        # The very first one is used for training.
        target = rng.randrange(max(start, 1), max(end, 2))
        yield from (place == target for place in range(start, end))
        start = end


def _row(example: Example, groups: Mapping[int, str] | None) -> dict[str, Any]:
    """Return the columns of an example, with usual names, and that of its group."""
    group = {} if groups is None else {GROUP: groups.get(example.row, "")}
    if isinstance(example, TextExample):
        pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
        return {"text": example.text, **pair, "label": example.answer, **group}
    if isinstance(example, LabelsExample):
        pair = {} if example.text_pair is None else {"text_pair": example.text_pair}
        said = {name: int(name in example.labels) for name in example.asked}
        return {"text": example.text, **pair, "label": said or list(example.labels), **group}
    if isinstance(example, TaggedExample):
        return {"words": example.words, "tags": example.tags, **group}
    if isinstance(example, QuestionExample):
        texts, starts = [text for text, _ in example.answers], [at for _, at in example.answers]
        answers = {"text": texts, "answer_start": starts}
        fields = {"id": example.id, "question": example.question, "context": example.context}
        return {**fields, "answers": answers, **group}
    assert isinstance(example, ChoiceExample)
    endings = {f"ending{i}": choice for i, choice in enumerate(example.choices)}
    return {"sent1": example.text, **endings, "label": example.answer, **group}
