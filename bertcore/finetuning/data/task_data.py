"""A data set of a task: read, tokenised, its answers as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bertcore.finetuning.data.examples import ChoiceExample, TaggedExample, TextExample
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.data.labels import describe_unseen, order_labels
from bertcore.finetuning.data.questions import Questions, question_rows
from bertcore.finetuning.data.read_choices import read_choices
from bertcore.finetuning.data.read_questions import read_questions
from bertcore.finetuning.data.read_tags import read_tags
from bertcore.finetuning.data.read_texts import USUAL, Columns, read_texts
from bertcore.finetuning.data.rows import IGNORED, RowBuilder, Rows
from bertcore.finetuning.tasks import Task
from bertcore.tokenizer import Tokenizer

_AT_ONCE = 2000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskData:
    """A data set, ready for the network."""

    task: Task
    rows: Rows
    labels: tuple[str, ...]
    """The classes that targets stand for; () for scores, spans and choices."""
    num_examples: int
    """Texts, sentences, questions or choices as they stand in the file."""
    sentence_lengths: NDArray[np.int64] | None = None
    """Of "tag": words of each sentence; their targets follow one another in `rows`."""
    questions: Questions | None = None
    """Of "qa": the questions and their windows."""
    notes: tuple[str, ...] = ()
    """What was cut or left out, a sentence each."""


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
    """Read a file and tokenise it; texts are not kept, but those of questions.

    Args:
        path: The file.
        task: What it is for.
        tokenizer: Of the checkpoint.
        max_length: Longest row in tokens; longer texts are cut (`longest_first`), longer sentences
            of "tag" and texts of "qa" become several rows.
        labels: The classes that there are; None finds them in the file.
        columns: Which to read.
        skip_bad_rows: Leave out rows that cannot be used, in place of refusing the file.
        doc_stride: Of "qa": tokens from one window's start to the next's.
        is_train: Of "qa": rows for training; they need no texts afterwards.

    Raises:
        ValueError: If the file cannot be read, has no example, or holds a label not in `labels`.
    """
    bad = BadRows(skip=skip_bad_rows)
    if task.name == "qa":
        rows, questions = question_rows(
            read_questions(path, bad_rows=bad),
            tokenizer,
            max_length=max_length,
            doc_stride=doc_stride,
            is_train=is_train,
        )
        data = TaskData(
            task=task, rows=rows, labels=(), num_examples=questions.num, questions=questions
        )
    elif task.name == "tag":
        tagged = read_tags(path, columns=columns, bad_rows=bad)
        data = tag_data(tagged, task, tokenizer, max_length, labels, path, bad)
    elif task.name == "choice":
        choices = read_choices(path, columns=columns, bad_rows=bad)
        data = _choice_data(choices, task, tokenizer, max_length, path, bad)
    else:
        texts = read_texts(path, task=task.name, columns=columns, bad_rows=bad)
        data = text_data(texts, task, tokenizer, max_length, labels, path, bad)
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


def with_labels(data: TaskData, labels: Sequence[str]) -> TaskData:
    """Return a data set whose classes are numbered as in another list of labels that holds its own.

    Raises:
        ValueError: If a label of the data is not in the list.
    """
    if tuple(labels) == data.labels:
        return data
    places = np.array([*(list(labels).index(label) for label in data.labels), IGNORED])
    targets = data.rows.targets.astype(np.int64)
    moved = places[np.where(targets == IGNORED, len(data.labels), targets)]
    return replace(data, rows=replace(data.rows, targets=moved), labels=tuple(labels))


class _Classes:
    """Numbers labels as they come; afterwards, by their order."""

    def __init__(self, labels: Sequence[str] | None) -> None:
        self._known = labels
        self._ids = {label: i for i, label in enumerate(labels or ())}

    def number(self, label: str) -> int | None:
        """Return the label's number, or None if there is no such label."""
        if label not in self._ids:
            if self._known is not None:
                return None
            self._ids[label] = len(self._ids)
        return self._ids[label]

    def describe(self, label: str) -> str:
        return describe_unseen(label, self._known or ())

    def finish(self, numbers: array[int]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the labels in order, and the targets; IGNORED stays."""
        found = np.array(numbers, dtype=np.int64)
        if self._known is not None:
            return tuple(self._known), found
        labels = order_labels(self._ids)
        order = {label: i for i, label in enumerate(labels)}
        moved = np.array([*(order[label] for label in self._ids), IGNORED], dtype=np.int64)
        return labels, moved[np.where(found == IGNORED, len(labels), found)]


def text_data(
    texts: Iterable[TextExample],
    task: Task,
    tokenizer: Tokenizer,
    max_length: int,
    labels: Sequence[str] | None,
    path: Path,
    bad: BadRows,
) -> TaskData:
    """Return the rows of texts and pairs; labels that are not in the list go to `bad`."""
    builder = RowBuilder(tokenizer, max_length)
    classes = _Classes(labels)
    scores, numbers = array("f"), array("i")
    for chunk in _chunks(texts):
        kept = []
        for example in chunk:
            if task.name == "regress":
                scores.append(float(example.answer))
            else:
                number = classes.number(example.answer)
                if number is None:
                    bad.add(
                        f"row {example.row} of {str(path)!r} has "
                        f"{classes.describe(example.answer)}."
                    )
                    continue
                numbers.append(number)
            kept.append(example)
        first = tokenizer.encode_ids([example.text for example in kept])
        second = tokenizer.encode_ids([example.text_pair or "" for example in kept])
        for example, a, b in zip(kept, first, second, strict=True):
            builder.add(a, None if example.text_pair is None else b)
    if task.name == "regress":
        rows = builder.build(np.array(scores, dtype=np.float32))
        return TaskData(task=task, rows=rows, labels=(), num_examples=len(rows))
    names, targets = classes.finish(numbers)
    rows = builder.build(targets)
    return TaskData(task=task, rows=rows, labels=names, num_examples=len(rows))


def tag_data(
    sentences: Iterable[TaggedExample],
    task: Task,
    tokenizer: Tokenizer,
    max_length: int,
    labels: Sequence[str] | None,
    path: Path,
    bad: BadRows,
) -> TaskData:
    """Return the rows of tagged sentences; tags that are not in the list go to `bad`."""
    builder = RowBuilder(tokenizer, max_length)
    classes = _Classes(labels)
    targets, lengths = array("i"), array("q")
    for sentence in sentences:
        numbers = [classes.number(tag) for tag in sentence.tags]
        if None in numbers:
            tag = sentence.tags[numbers.index(None)]
            bad.add(
                f"the sentence at line {sentence.row} of {str(path)!r} has {classes.describe(tag)}."
            )
            continue
        lengths.append(len(sentence.words))
        pieces = tokenizer.encode_ids(sentence.words)
        for words in _fitting(pieces, max_length - 2):
            row: list[int] = []
            of_row = [IGNORED]
            for word in words:
                # A word of signs that the tokenizer drops still has a place and a tag.
                ids = (pieces[word] or [tokenizer.unk_id])[: max_length - 2]
                row += ids
                number = numbers[word]
                assert number is not None
                of_row += [number, *[IGNORED] * (len(ids) - 1)]
            builder.add(row)
            targets.extend([*of_row, IGNORED])
    names, found = classes.finish(targets)
    return TaskData(
        task=task,
        rows=builder.build(found),
        labels=names,
        num_examples=len(lengths),
        sentence_lengths=np.array(lengths, dtype=np.int64),
    )


def _fitting(pieces: Sequence[Sequence[int]], room: int) -> Iterator[range]:
    """Yield the words of each row: a long sentence is divided between words."""
    start, used = 0, 0
    for word, ids in enumerate(pieces):
        size = min(max(1, len(ids)), room)
        if used + size > room:
            yield range(start, word)
            start, used = word, 0
        used += size
    yield range(start, len(pieces))


def _choice_data(
    examples: Iterable[ChoiceExample],
    task: Task,
    tokenizer: Tokenizer,
    max_length: int,
    path: Path,
    bad: BadRows,
) -> TaskData:
    builder = RowBuilder(tokenizer, max_length)
    targets = array("i")
    group = 0
    for example in examples:
        group = group or len(example.choices)
        if len(example.choices) != group:
            bad.add(
                f"row {example.row} of {str(path)!r} has {len(example.choices)} choices; the "
                f"others have {group}."
            )
            continue
        text, *ends = tokenizer.encode_ids([example.text, *example.choices])
        for end in ends:
            builder.add(text, end)
        targets.append(example.answer)
    rows = builder.build(np.array(targets, dtype=np.int64), group=max(group, 1))
    return TaskData(task=task, rows=rows, labels=(), num_examples=len(targets))


def _chunks(examples: Iterable[_T]) -> Iterator[list[_T]]:
    """Yield examples by the thousand, so that a tokenizer works on many and none is kept."""
    source = iter(examples)
    while chunk := list(islice(source, _AT_ONCE)):
        yield chunk
