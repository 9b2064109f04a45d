"""Attributions of every row of a labelled file, and their mean by word and class."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bertcore.analysis.attribution.counterfactual import answer
from bertcore.analysis.attribution.gradients import STEPS, can_differentiate, integrated_gradients
from bertcore.analysis.attribution.task_input import occlusion, task_input
from bertcore.base.whole_files import write_whole
from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import Example, LabelsExample, TextExample
from bertcore.data.files import BadRows
from bertcore.training.engine.provenance import hash_file, hash_weights
from bertcore.training.evaluation.intervals import mean_interval
from bertcore.training.tasks.answers import ClassTarget, LabelTarget
from bertcore.training.tasks.judged import ROWS_AT_ONCE
from bertcore.training.tasks.model import TaskModel
from bertcore.training.tasks.multilabel import LabelsAnswer
from bertcore.training.tasks.read import ReadParts, read_parts

SCORE = "score"
"""What stands for the class where the answer is a number."""


class RowWords(NamedTuple):
    """The answer to a row of a file, and what each of its W words adds to it."""

    row: int
    """Of the file, from 1."""
    gold: str
    """Its labels, joined by "|", or its score."""
    label: str
    """What is explained: the given label; of several the most probable one; or SCORE."""
    is_wrong: bool
    """Whether the file has another label; never for a score."""
    value: float
    """Log-odds of the label, or the score."""
    baseline: float | None
    """The same where integrated gradients begin, which sum to `value - baseline + delta`; None for
    occlusion."""
    delta: float | None
    words: tuple[str, ...]
    """As written, without special tokens, [W]."""
    text_ids: tuple[int, ...]
    """0: text A, 1: text B."""
    attributions: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WordMean:
    """What a word adds to a class in the texts that have it."""

    word: str
    """Lower-cased if the vocabulary is."""
    label: str
    answers: str
    """"all" answers of this label, or only the "wrong" ones."""
    rows: int
    """Number of texts with the word; each counts by the mean over the word's places in it."""
    mean: float
    low: float
    high: float
    """Ends of the 95% interval over texts (Student's t); NaN for one text."""


@dataclass(frozen=True, slots=True, eq=False)
class FileWords:
    """Attributions of the rows of a labelled file, and their means."""

    method: str
    """As in `Explanation`: "ig", or "occlusion" where gradients do not reach the words."""
    rows: tuple[RowWords, ...]
    means: tuple[WordMean, ...]
    notes: tuple[str, ...]


def explain_file(
    model: TaskModel,
    path: str | Path,
    *,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    most_rows: int | None = None,
    steps: int = STEPS,
    log: Path | None = None,
    read: ReadParts | None = None,
    on_fraction: Callable[[float], None] = lambda fraction: None,
) -> FileWords:
    """Attribute the given answer to every row of a labelled file, as for `run_file`, to its words.

    Each row is noted in the file `log` when it is done. If that is there, the work resumes after
    its last row; the caller deletes it.

    ValueError if the model has no one answer to a text, the file cannot be read or has no row, or
    the log is of other work.
    """
    path, task = Path(path), model.task
    if task.head_kind != "sequence":
        raise ValueError(
            f"a model for the task {task.name!r} has no one answer to a text, to which all words "
            "could add. Explain one text, or use a model for classify, pair, multilabel or regress."
        )
    bad = BadRows(skip=skip_bad_rows)
    stream = chain.from_iterable(
        (read or read_parts)(
            path,
            task,
            labels=model.labels,
            columns=columns,
            rows_at_once=ROWS_AT_ONCE,
            bad_rows=bad,
        )
    )
    examples = list(islice(stream, most_rows))
    if not examples:
        raise ValueError(f"{str(path)!r} has no example to use (0 rows). {bad.why_empty()}")
    notes = [*model.notes, *bad.notes()]
    if next(stream, None) is not None:
        notes.append(f"Only the first {len(examples):,} rows are explained.")
    work = {"data": hash_file(path), "columns": asdict(columns), "steps": steps}
    rows = [] if log is None else _read_log(log, work | {"weights": hash_weights(model.module)})
    for example in examples[len(rows) :]:
        rows.append(_explain_row(model, example, steps))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
        on_fraction(len(rows) / len(examples))
    means = tuple(word_means(rows, lower=model.tokenizer.do_lower_case))
    method = "ig" if can_differentiate(model) else "occlusion"
    return FileWords(method, tuple(rows), means, tuple(notes))


def _explain_row(model: TaskModel, example: Example, steps: int) -> RowWords:
    assert isinstance(example, TextExample | LabelsExample)  # of tasks that answer for a text
    source = task_input(model, example.text, example.text_pair)
    answered = answer(model, source)
    target = answered.target(source)
    label, is_wrong = SCORE, False
    if isinstance(target, ClassTarget | LabelTarget):
        label = model.labels[target.label]
        is_given = not isinstance(answered, LabelsAnswer) or target.label in answered.given
        is_wrong = is_given != (label in example.labels)
    if can_differentiate(model):
        found = integrated_gradients(model, source, target, steps=steps)
        numbers = found.value, found.baseline, found.delta
        by_word = source.merge(found.tokens)
    else:
        occluded = occlusion(model, source, target)
        numbers, by_word = (occluded.value, None, None), occluded.importance
    words = [source.words[place] for place in source.text_words]
    return RowWords(
        example.row,
        "|".join(example.labels),
        label,
        is_wrong,
        *numbers,
        words=tuple(word.text for word in words),
        text_ids=tuple(word.text_id for word in words),
        attributions=tuple(by_word[source.text_words].tolist()),
    )


def word_means(rows: Sequence[RowWords], *, lower: bool) -> Iterator[WordMean]:
    """Yield the mean of each word in the texts of each label, and in those answered wrongly.

    With `lower`, "The" and "the" are one word.
    """
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        in_text: dict[str, list[float]] = defaultdict(list)
        for word, attribution in zip(row.words, row.attributions, strict=True):
            in_text[word.lower() if lower else word].append(attribution)
        for word, attributions in in_text.items():
            for answers in ("all", "wrong")[: 1 + row.is_wrong]:
                found[word, row.label, answers].append(float(np.mean(attributions)))
    for key, values in found.items():
        yield WordMean(*key, len(values), *map(float, mean_interval(np.array(values))))


def _read_log(log: Path, work: dict[str, object]) -> list[RowWords]:
    """Return the rows of a log, without one that was cut off; begin it if it is not there."""
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True) if log.is_file() else []
    whole = [json.loads(line) for line in lines if line.endswith("\n")] or [work]
    if others := [name for name in work if whole[0].get(name) != work[name]]:
        raise ValueError(
            f"{str(log)!r} is of work with other {' and '.join(others)}. Delete it to start anew, "
            "or resume with those."
        )
    write_whole(log, "".join(json.dumps(line) + "\n" for line in whole))
    return [RowWords(*row[:7], *map(tuple, row[7:])) for row in whole[1:]]
