"""Predictions of a fine-tuned model on a labelled file: answers, confidences and worst errors."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.configs.columns import USUAL, Columns
from bertcore.data.files import BadRows
from bertcore.evaluation.answer_notes import Inputs
from bertcore.evaluation.breakdown import Calibration, Slice, by_length, calibration
from bertcore.tasks import Task, find_task
from bertcore.tasks.judged import (
    ROWS_AT_ONCE,
    ExampleBlock,
    FileJudge,
    JudgedAnswers,
    MetricTable,
    WorstAnswers,
    WrongAnswer,
    joined,
)
from bertcore.tasks.model import TaskModel
from bertcore.tasks.read import ReadParts, stream_examples
from bertcore.tasks.rows import Rows, ordered_batches

NUM_ERRORS = 200
"""Number of wrong answers kept with their texts."""
_BATCH = 64
_LONGEST_TEXT = 20_000
"""Number of characters kept of an error's text."""

OnRows = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileRun(JudgedAnswers):
    """A model's answers to a labelled file, and the most severe errors among them."""

    task: str
    """Its name."""
    labels: tuple[str, ...]
    num_examples: int
    """Number of texts, sentences, questions or texts with choices that were run."""
    rows: NDArray[np.int64]
    """The row of each of them in the file, as in `Example.row`, [num_examples]."""
    errors: tuple[WrongAnswer, ...]
    """At most NUM_ERRORS, the most severe first."""
    num_errors: int
    """Number of wrong answers; for tags, of sentences with one."""
    is_whole: bool
    """Whether the whole file was run."""
    notes: tuple[str, ...]

    def metrics(self) -> MetricTable:
        """Return metrics, 95% intervals and the confusion matrix, as `bertscope evaluate` has."""
        return find_task(self.task).file_metrics(self, self.labels)

    def calibration(self) -> Calibration | None:
        """Return how often confident answers are right; None for a regression."""
        if not find_task(self.task).has_confidence:
            return None
        return calibration(self.confidence, self.right.astype(np.float64))

    def slices_by_length(self) -> list[Slice]:
        """Return the mean quality by length."""
        return by_length(self.quality, self.lengths)

    def slices_by_label(self) -> list[Slice]:
        """Return the mean quality by true label; for "qa" by whether there is an answer."""
        return find_task(self.task).slices_by_label(self, self.labels)


def run_file(
    model: TaskModel,
    path: str | Path,
    *,
    columns: Columns = USUAL,
    skip_bad_rows: bool = False,
    max_length: int | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
    read: ReadParts | None = None,
    on_rows: OnRows = lambda number: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> FileRun:
    """Run a labelled file through a model, a few thousand rows at a time.

    Args:
        path, columns, skip_bad_rows: As for `read_task_data`.
        max_length: Longest input in tokens; None takes the limit of the fine-tuning.
        rows_at_once: Rows between two calls of `should_stop`.
        read: As for `stream_examples`.
        on_rows: Called after each batch with the number of examples done.
        should_stop: Whether to stop and return the results so far.

    ValueError if the file cannot be read, no row can be used, or the model answers NaN.
    """
    path, task = Path(path), model.task
    length = model.default_length if max_length is None else max_length
    bad = BadRows(skip=skip_bad_rows)
    gathered = _Gathered(model, task, task.file_judge(path, model.labels))
    is_whole = True
    for part in stream_examples(
        path,
        task,
        model.tokenizer,
        max_length=length,
        labels=model.labels,
        columns=columns,
        bad_rows=bad,
        rows_at_once=rows_at_once,
        read=read,
    ):
        # Checked only while rows remain: a run stopped after its last row is complete.
        if gathered.num_examples and should_stop():
            is_whole = False
            break
        gathered.take(part, on_rows)
    if not gathered.num_examples:
        raise ValueError(f"{str(path)!r} has no example to use (0 rows). {bad.why_empty()}")
    notes = [*model.notes, *bad.notes()]
    if gathered.num_cut:
        notes.append(f"{gathered.num_cut:,} rows were truncated at {length} tokens.")
    return gathered.finish(is_whole, tuple(notes))


@dataclass(slots=True)
class _Gathered:
    model: TaskModel
    task: Task
    judge: FileJudge
    num_examples: int = 0
    num_cut: int = 0
    _labels: tuple[str, ...] = ()
    _rows: list[int] = field(default_factory=list)
    _num_inputs: int = 0
    _texts: set[int] = field(default_factory=set)
    """Hash of each different input."""
    _parts: list[JudgedAnswers] = field(default_factory=list)
    _worst: WorstAnswers = field(default_factory=lambda: WorstAnswers(NUM_ERRORS, _LONGEST_TEXT))

    def take(self, part: ExampleBlock, on_rows: OnRows) -> None:
        """Run a part and keep its answers and worst errors."""

        def on_fraction(fraction: float) -> None:
            on_rows(self.num_examples + int(len(part.examples) * fraction))

        judged = self.judge(part, logits_by_row(self.model, part.data.rows, on_fraction))
        self._parts.append(judged.answers)
        self._labels = part.data.labels
        for error in judged.errors:
            self._worst.add(error)
        self._rows += [example.row for example in part.examples]
        self.num_examples += len(part.examples)
        self.num_cut += part.data.rows.num_cut
        hashes = part.data.rows.hashes
        self._num_inputs += len(hashes)
        self._texts.update(hashes)

    def finish(self, is_whole: bool, notes: tuple[str, ...]) -> FileRun:
        run = FileRun(
            task=self.task.name,
            labels=self._labels,
            num_examples=self.num_examples,
            rows=np.array(self._rows, dtype=np.int64),
            errors=self._worst.sorted(),
            num_errors=self._worst.num_seen,
            is_whole=is_whole,
            notes=notes,
            **joined(self._parts),
        )
        inputs = Inputs(self._num_inputs, len(self._texts))
        said = self.task.file_notes(run, run.labels, inputs)
        return replace(run, notes=(*notes, *said))


@torch.inference_mode()
def logits_by_row(
    model: TaskModel, rows: Rows, on_fraction: Callable[[float], None] = lambda fraction: None
) -> list[NDArray[np.float32]]:
    """Return the logits of each row, [C] or [T, C].

    Args:
        rows: Of `Task.rows`.
        on_fraction: Called after each batch with the fraction done.

    ValueError if the model answers NaN or infinity.
    """
    row_logits: list[NDArray[np.float32]] = [np.empty(0, dtype=np.float32)] * len(rows)
    done = 0
    for numbers in ordered_batches(rows, _BATCH):
        batch = rows.batch(numbers).to(model.module.device)
        logits = model.module(batch.input_ids, batch.segment_ids, batch.attention_mask)
        logits = logits.float().cpu()
        for place, number in enumerate(numbers):
            answer = logits[place]
            is_by_token = answer.ndim == 2
            row_logits[number] = answer[: rows.lengths[number] if is_by_token else None].numpy()
        require_finite_logits([torch.from_numpy(row_logits[number]) for number in numbers])
        done += len(numbers)
        on_fraction(done / len(rows))
    return row_logits
