"""Labelled files some thousands of rows at a time: each part with its texts and its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bertcore.finetuning.data.examples import Example, QuestionExample, TaggedExample, TextExample
from bertcore.finetuning.data.files import BadRows
from bertcore.finetuning.data.labels import describe_unseen
from bertcore.finetuning.data.questions import question_rows
from bertcore.finetuning.data.read_questions import read_questions
from bertcore.finetuning.data.read_tags import read_tags
from bertcore.finetuning.data.read_texts import USUAL, Columns, read_texts
from bertcore.finetuning.data.task_data import TaskData, tag_data, text_data
from bertcore.finetuning.tasks import Task
from bertcore.tokenizer import Tokenizer

ROWS_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Part:
    """Some examples in the order of the file, and the same as inputs of the network."""

    examples: list[Example]
    data: TaskData


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
    """Yield a file of "classify", "pair", "regress", "tag" or "qa" part by part.

    Memory is that of one part, whatever the size of the file; SQuAD's JSON alone is read whole.

    Args:
        path, task, tokenizer, max_length, columns: As for `read_task_data`.
        labels: The model's classes; a row with another label is a bad one.
        bad_rows: Told of rows that cannot be used.
        rows_at_once: Examples of a part.

    Raises:
        ValueError: As `read_task_data`; also if the task has no such files.
    """
    examples: Iterable[Example]
    if task.name == "qa":
        examples = read_questions(path, bad_rows=bad_rows)
    elif task.name == "tag":
        examples = read_tags(path, columns=columns, bad_rows=bad_rows)
    elif task.name in ("classify", "pair", "regress"):
        examples = read_texts(path, task=task.name, columns=columns, bad_rows=bad_rows)
    else:
        raise ValueError(f"files for the task {task.name!r} are not read part by part.")
    known = set(labels) if task.has_labels else None
    usable = _with_known_labels(examples, known, labels, path, bad_rows)
    while chosen := list(islice(usable, rows_at_once)):
        yield Part(chosen, _data(chosen, task, tokenizer, max_length, labels, path, bad_rows))


def _with_known_labels(
    examples: Iterable[Example],
    known: set[str] | None,
    labels: Sequence[str],
    path: Path,
    bad_rows: BadRows,
) -> Iterator[Example]:
    for example in examples:
        if known is None:
            yield example
            continue
        found: Sequence[str] = ()
        if isinstance(example, TextExample):
            found = [example.answer]
        elif isinstance(example, TaggedExample):
            found = example.tags
        unseen = next((label for label in found if label not in known), None)
        if unseen is None:
            yield example
            continue
        assert isinstance(example, TextExample | TaggedExample)
        where = "row" if isinstance(example, TextExample) else "the sentence at line"
        sentence = f"{where} {example.row} of {str(path)!r} has {describe_unseen(unseen, labels)}."
        bad_rows.add(sentence)


def _data(
    examples: Sequence[Example],
    task: Task,
    tokenizer: Tokenizer,
    max_length: int,
    labels: Sequence[str],
    path: Path,
    bad_rows: BadRows,
) -> TaskData:
    if task.name == "qa":
        rows, questions = question_rows(
            (one for one in examples if isinstance(one, QuestionExample)),
            tokenizer,
            max_length=max_length,
            is_train=False,
        )
        return TaskData(
            task=task, rows=rows, labels=(), num_examples=questions.num, questions=questions
        )
    if task.name == "tag":
        tagged = (one for one in examples if isinstance(one, TaggedExample))
        return tag_data(tagged, task, tokenizer, max_length, labels, path, bad_rows)
    texts = (one for one in examples if isinstance(one, TextExample))
    return text_data(texts, task, tokenizer, max_length, labels, path, bad_rows)
