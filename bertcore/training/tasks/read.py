"""Read files of examples as data sets of a task, whole or in chunks."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import as_text
from bertcore.data.columns import find_column, text_header
from bertcore.data.examples import Example, QuestionExample, named_labels
from bertcore.data.exports import open_rows
from bertcore.data.files import BadRows
from bertcore.data.labels import MAX_LABELS, FileLabels, read_label_map, read_named
from bertcore.data.tag_schemes import FileTags
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.tasks.judged import ROWS_AT_ONCE, ExampleBlock
from bertcore.training.tasks.registry import find_task
from bertcore.training.tasks.task import RowForm, Task
from bertcore.training.tasks.task_data import TaskData


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
    if_unknown: str | None = None,
) -> TaskData:
    """Read a file and tokenize it; only the texts of questions are kept.

    Args:
        max_length: Longest row in tokens; longer texts are truncated (`longest_first`), longer
            sentences of "tag" and texts of "qa" become several rows.
        labels: The classes with which those of the file are matched (`match_labels`); None collects
            them from the file.
        doc_stride: For "qa": tokens from one window's start to the next's.
        is_train: Whether it is learned: for "qa", rows for training need no texts afterwards.
        change: Receives the examples and returns those to use.
        if_unknown: What to do about a label that is not in `labels`, a sentence, with which the
            file is refused, bad rows skipped or not; None makes it a bad row.

    ValueError if the file cannot be read, has no example, or has a label not in `labels`.
    """
    bad = BadRows(skip=skip_bad_rows)
    found = file_labels(task, labels, columns)
    found.if_unknown = if_unknown
    examples = read_examples(path, task, found, columns=columns, bad_rows=bad)
    file_rows = array("q")
    examples = _noting_rows(examples if change is None else change(examples), file_rows)
    data = task.rows(examples, tokenizer, RowForm(max_length, labels, doc_stride, is_train))
    if not data.num_examples:
        raise ValueError(f"{str(path)!r} has no example to use (0 rows). {bad.why_empty()}")
    notes = bad.notes()
    if data.rows.num_cut:
        notes.append(
            f"{data.rows.num_cut:,} of {len(data.rows.lengths):,} rows of {path.name} were "
            f"truncated at {max_length} tokens."
        )
    return replace(data, file_rows=tuple(file_rows), notes=tuple(notes))


def _noting_rows(examples: Iterable[Example], rows: array[int]) -> Iterator[Example]:
    for example in examples:
        if not isinstance(example, QuestionExample):
            rows.append(example.row)
        yield example


def file_labels(
    task: Task, known: Sequence[str] | None = None, columns: Columns = USUAL
) -> FileLabels:
    """Return what finds out what the labels of a file stand for; used for one file.

    They are matched with `known` classes and take their names; None takes those of the file. The
    columns' `label_map` overrules. ValueError if the label map cannot be read, or names other
    labels than the known ones.
    """
    label_map = read_label_map(columns.label_map)
    if not task.has_labels and label_map:
        raise ValueError(f"--label-map is for labels, which {task.name!r} has not. Leave it out.")
    if task.answers_each_token and task.has_labels:
        return FileTags(known, label_map)
    return FileLabels(known if task.has_labels else None, label_map)


def read_examples(
    path: Path,
    task: Task,
    labels: FileLabels | None = None,
    *,
    columns: Columns = USUAL,
    bad_rows: BadRows,
) -> Iterable[Example]:
    """Return the examples of a file, read one by one, with what their labels stand for.

    `labels` are from `file_labels`; None takes those of the file. ValueError as `read_task_data`,
    also while they are read.
    """

    def read(bad: BadRows) -> Iterable[Example]:
        return task.read(path, columns=columns, bad_rows=bad)

    if not task.has_labels:
        return read(bad_rows)
    return read_named(read, labels or file_labels(task, None, columns), path, bad_rows)


def stream_examples(
    path: Path,
    task: Task,
    tokenizer: Tokenizer,
    *,
    max_length: int,
    labels: Sequence[str],
    columns: Columns = USUAL,
    bad_rows: BadRows,
    rows_at_once: int = ROWS_AT_ONCE,
    read: ReadParts | None = None,
) -> Iterator[ExampleBlock]:
    """Yield a file part by part, of `rows_at_once` examples.

    Memory is bounded by one part, whatever the size of the file; only SQuAD's JSON is read whole. A
    row whose label matches none of `labels` is a bad one; `read` is called in place of
    `read_parts`. ValueError as `read_task_data`.
    """
    known = labels if task.has_labels else None
    parts = (read or read_parts)(
        path,
        task,
        labels=tuple(labels),
        columns=columns,
        rows_at_once=rows_at_once,
        bad_rows=bad_rows,
    )
    first = 0
    for chosen in parts:
        data = task.rows(chosen, tokenizer, RowForm(max_length, known, is_train=False))
        yield ExampleBlock(first, chosen, data)
        first += len(chosen)


def read_parts(
    path: Path,
    task: Task,
    *,
    labels: Sequence[str],
    columns: Columns,
    rows_at_once: int,
    bad_rows: BadRows,
) -> Iterator[list[Example]]:
    """Yield the examples of a file, part by part.

    ValueError as `read_task_data`.
    """
    found = file_labels(task, labels, columns)
    source = iter(read_examples(path, task, found, columns=columns, bad_rows=bad_rows))
    while part := list(islice(source, rows_at_once)):
        yield part


def send_parts(
    path: Path, task: str, *, on_part: Callable[[object], object], **options: Any
) -> None:
    """Call a function with each part that `read_parts` yields, in a process of its own."""
    for part in read_parts(path, find_task(task), **options):
        on_part(part)


ReadParts = Callable[..., Iterator[list[Example]]]
"""With the parameters of `read_parts`."""


_REPORT_EVERY = 5000
"""Examples between two calls of `on_rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The content of a file as a task reads it."""

    num_examples: int
    labels: dict[str, int]
    """How often each occurs, the most frequent first; {} where answers are no labels. At most
    MAX_LABELS + 1, with which none can be learned."""
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

    Rows with others than the known `labels` are bad; None takes those of the file. `on_rows` is
    called with the number of examples from time to time; may raise to stop. ValueError if the file
    cannot be read.
    """
    chosen = find_task(task)
    bad = BadRows(skip=True)
    counts: Counter[str] = Counter()
    number = 0
    found = file_labels(chosen, labels, columns)
    for example in read_examples(path, chosen, found, columns=columns, bad_rows=bad):
        if number % _REPORT_EVERY == 0:
            on_rows(number)
        number += 1
        if chosen.has_labels:
            _count(counts, example)
    return Survey(
        num_examples=number,
        labels=dict(counts.most_common()),
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


def column_values(
    path: Path, task: str, column: str, *, columns: Columns = USUAL, option: str
) -> dict[int, str]:
    """Return the value of each row in a column, by `Example.row`; "" if it has none.

    The column is given by its name, or its number from 1. ValueError if the file cannot be read,
    there is no such column, or it is for a task that answers for each token.
    """
    if find_task(task).answers_each_token:
        raise ValueError(f"{option} is for tables of texts, not for the task {task!r}.")
    header, bad = text_header(columns), BadRows(skip=True)
    with open_rows(path, bad, has_header=header, label=columns.label) as table:
        place = find_column(table.columns, column, option, path)
        seen: dict[str, str] = {}  # each value is kept once, however many rows have it
        values = {}
        for row in table.rows:
            value = as_text(row.cells[place]) if place < len(row.cells) else ""
            values[row.number] = seen.setdefault(value, value)
        return values
