"""Read files of examples as data sets of a task, whole or in chunks."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import (
    Example,
    QuestionExample,
    named_labels,
    rename_labels,
)
from bertcore.data.files import BadRows
from bertcore.data.labels import MAX_LABELS, KnownLabels
from bertcore.tasks.judged import Part
from bertcore.tasks.task import Task
from bertcore.tasks.task_data import TaskData
from bertcore.tokenizer import Tokenizer

ROWS_AT_ONCE = 2000


def read_task_data(
    path: Path,
    task: Task,
    tokenizer: Tokenizer,
    *,
    max_length: int,
    labels: Sequence[str] | None = None,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    doc_stride: int = 128,
    is_train: bool = True,
    change: Callable[[Iterable[Example]], Iterable[Example]] | None = None,
) -> TaskData:
    """Read a file and tokenize it; only the texts of questions are kept.

    Args:
        path: The file.
        task: The task of the data.
        tokenizer: The checkpoint's tokenizer.
        max_length: Longest row in tokens; longer texts are truncated (`longest_first`), longer
            sentences of "tag" and texts of "qa" become several rows.
        labels: The classes with which those of the file are matched (`match_labels`); None collects
            them from the file.
        columns: The columns to read.
        skip_bad_rows: Leave out rows that cannot be used instead of rejecting the file.
        doc_stride: For "qa": tokens from one window's start to the next's.
        is_train: For "qa": rows for training, which need no texts afterwards.
        change: Receives the examples and returns those to use.

    Raises:
        ValueError: If the file cannot be read, has no example, or has a label not in `labels`.
    """
    bad = BadRows(skip=skip_bad_rows)
    known = KnownLabels(labels) if labels is not None and task.has_labels else None
    examples = read_examples(path, task, known=known, columns=columns, bad_rows=bad)
    file_rows = array("q")
    data = task.rows(
        _noting_rows(examples if change is None else change(examples), file_rows),
        tokenizer,
        max_length=max_length,
        labels=labels,
        doc_stride=doc_stride,
        is_train=is_train,
    )
    if not data.num_examples:
        raise ValueError(
            f"{str(path)!r} has no example to use (0 rows)."
            f"{' ' + bad.first if bad.first else ' Check the file.'}"
        )
    notes = [bad.sentence(), None if known is None else known.sentence()]
    if data.rows.num_cut:
        notes.append(
            f"{data.rows.num_cut:,} of {len(data.rows.lengths):,} rows of {path.name} were "
            f"truncated at {max_length} tokens."
        )
    noted = tuple(note for note in notes if note)
    return replace(data, file_rows=tuple(file_rows), notes=noted)


def _noting_rows(examples: Iterable[Example], rows: array[int]) -> Iterator[Example]:
    for example in examples:
        if not isinstance(example, QuestionExample):
            rows.append(example.row)
        yield example


def read_examples(
    path: Path,
    task: Task,
    *,
    known: KnownLabels | None = None,
    columns: Columns = USUAL,
    bad_rows: BadRows,
) -> Iterable[Example]:
    """Return the examples of a file, read one by one; only those with known labels, if given.

    Args:
        path, task, columns: As for `read_task_data`.
        known: The classes with which labels of the file are matched and whose names they take; None
            takes any. Only for a task with labels.
        bad_rows: Collects rows that cannot be used.

    Raises:
        ValueError: As `read_task_data`, also while they are read.
    """

    def read(bad: BadRows) -> Iterable[Example]:
        return task.read(path, columns=columns, bad_rows=bad)

    if known is None:
        return read(bad_rows)
    return _with_known_labels(read, known, path, bad_rows)


def stream_examples(
    path: Path,
    task: Task,
    tokenizer: Tokenizer,
    *,
    max_length: int,
    known: KnownLabels,
    columns: Columns = USUAL,
    bad_rows: BadRows,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[Part]:
    """Yield a file part by part.

    Memory is bounded by one part, whatever the size of the file; only SQuAD's JSON is read whole.

    Args:
        path, task, tokenizer, max_length, columns: As for `read_task_data`.
        known: The model's classes; a row whose label matches none is a bad one.
        bad_rows: Collects rows that cannot be used.
        rows_at_once: Number of examples per part.

    Raises:
        ValueError: As `read_task_data`.
    """
    labels = known.labels if task.has_labels else None
    matched = known if task.has_labels else None
    source = iter(read_examples(path, task, known=matched, columns=columns, bad_rows=bad_rows))
    first = 0
    while chosen := list(islice(source, rows_at_once)):
        data = task.rows(chosen, tokenizer, max_length=max_length, labels=labels, is_train=False)
        yield Part(first, chosen, data)
        first += len(chosen)


def _with_known_labels(
    read: Callable[[BadRows], Iterable[Example]],
    known: KnownLabels,
    path: Path,
    bad_rows: BadRows,
) -> Iterator[Example]:
    """Yield the examples whose labels are all known, by their known names; others are bad rows.

    The first label that is spelled differently causes the whole file to be read for its labels.
    """
    for example in read(bad_rows):
        unseen = _unseen(example, known)
        if unseen is not None and known.needs_all:
            known.match_all(_labels_of(read(BadRows(skip=True))))
            unseen = _unseen(example, known)
        if unseen is None:
            yield rename_labels(example, known.match)
        else:
            bad_rows.add(f"{example.where} of {str(path)!r} has {known.describe_unseen(unseen)}.")


def _unseen(example: Example, known: KnownLabels) -> str | None:
    return next((name for name in named_labels(example) if name not in known.match), None)


def _labels_of(examples: Iterable[Example]) -> set[str]:
    """Return the labels of a file, at most enough to show that there are too many."""
    names: set[str] = set()
    for example in examples:
        names.update(named_labels(example))
        if len(names) > MAX_LABELS:
            break
    return names
