"""Read files of examples as data sets of a task, whole or in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from bertcore.configs.columns import USUAL, Columns
from bertcore.finetuning.data.examples import Example
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.data.labels import describe_unseen
from bertcore.finetuning.tasks.judged import Part
from bertcore.finetuning.tasks.task import Task
from bertcore.finetuning.tasks.task_data import TaskData
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
) -> TaskData:
    """Read a file and tokenize it; only the texts of questions are kept.

    Args:
        path: The file.
        task: What it is for.
        tokenizer: Of the checkpoint.
        max_length: Longest row in tokens; longer texts are cut (`longest_first`), longer sentences
            of "tag" and texts of "qa" become several rows.
        labels: The classes; None collects them from the file.
        columns: Which to read.
        skip_bad_rows: Leave out rows that cannot be used instead of refusing the file.
        doc_stride: Of "qa": tokens from one window's start to the next's.
        is_train: Of "qa": rows for training; they need no texts afterwards.

    Raises:
        ValueError: If the file cannot be read, has no example, or holds a label not in `labels`.
    """
    bad = BadRows(skip=skip_bad_rows)
    examples = read_examples(path, task, labels=labels, columns=columns, bad_rows=bad)
    data = task.rows(
        examples,
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
    notes = [bad.sentence()]
    if data.rows.num_cut:
        notes.append(
            f"{data.rows.num_cut:,} of {data.num_examples:,} texts of {path.name} were cut at "
            f"{max_length} tokens."
        )
    return replace(data, notes=tuple(note for note in notes if note))


def read_examples(
    path: Path,
    task: Task,
    *,
    labels: Sequence[str] | None = None,
    columns: Columns = USUAL,
    bad_rows: BadRows,
) -> Iterable[Example]:
    """Return the examples of a file, read one by one; with labels, those of the list alone.

    Args:
        path, task, columns: As for `read_task_data`.
        labels: The classes; None takes any. Without meaning for a task that has none.
        bad_rows: Collects rows that cannot be used.

    Raises:
        ValueError: As `read_task_data`, also while they are read.
    """
    examples: Iterable[Example] = task.read(path, columns=columns, bad_rows=bad_rows)
    if labels is None or not task.has_labels:
        return examples
    return _with_known_labels(examples, labels, path, bad_rows)


def stream_examples(
    path: Path,
    task: Task,
    tokenizer: Tokenizer,
    *,
    max_length: int,
    labels: Sequence[str] = (),
    columns: Columns = USUAL,
    bad_rows: BadRows,
    rows_at_once: int = ROWS_AT_ONCE,
) -> Iterator[Part]:
    """Yield a file part by part.

    Memory is bounded by one part, whatever the size of the file; only SQuAD's JSON is read whole.

    Args:
        path, task, tokenizer, max_length, columns: As for `read_task_data`.
        labels: The model's classes; a row with another label is a bad one.
        bad_rows: Collects rows that cannot be used.
        rows_at_once: Examples of a part.

    Raises:
        ValueError: As `read_task_data`.
    """
    known = labels if task.has_labels else None
    source = iter(read_examples(path, task, labels=known, columns=columns, bad_rows=bad_rows))
    first = 0
    while chosen := list(islice(source, rows_at_once)):
        data = task.rows(chosen, tokenizer, max_length=max_length, labels=known, is_train=False)
        yield Part(first, chosen, data)
        first += len(chosen)


def _with_known_labels(
    examples: Iterable[Example], labels: Sequence[str], path: Path, bad_rows: BadRows
) -> Iterator[Example]:
    """Yield the examples whose labels are all in the list; others are bad rows."""
    known = set(labels)
    for example in examples:
        unseen = next((label for label in example.labels if label not in known), None)
        if unseen is None:
            yield example
        else:
            bad_rows.add(f"{example.where} of {str(path)!r} has {describe_unseen(unseen, labels)}.")
