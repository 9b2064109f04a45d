"""Predictions of a fine-tuned model on a labelled file: answers, confidences and worst errors."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.configs.columns import USUAL, Columns
from bertcore.data.files import BadRows
from bertcore.training.evaluation.answer_notes import Inputs
from bertcore.training.evaluation.breakdown import Calibration, Slice, by_length, calibration
from bertcore.training.tasks import find_task
from bertcore.training.tasks.judged import (
    ROWS_AT_ONCE,
    JudgedAnswers,
    MetricTable,
    WorstAnswers,
    WrongAnswer,
    joined,
)
from bertcore.training.tasks.model import TaskModel
from bertcore.training.tasks.read import ReadParts, stream_examples
from bertcore.training.tasks.rows import Rows, ordered_batches

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
    notes: tuple[str, ...]

    def metrics(self) -> MetricTable:
        """Return metrics, 95% intervals and the confusion matrix, as `bertscope evaluate` has."""
        return find_task(self.task).file_metrics(self, self.labels)

    def calibration(self) -> Calibration | None:
        """Return how often confident answers are right; None for a regression."""
        if not find_task(self.task).has_confidence:
            return None
        return calibration(self.confidence, self.right)

    @property
    def scores(self) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
        """The true and the predicted scores, [num_examples] each; ValueError if answers are no
        scores."""
        if self.task != "regress":
            raise ValueError(f"the task {self.task!r} does not give scores.")
        return self.gold, self.predicted

    def slices(self) -> list[Slice]:
        """Return the mean quality by length, and by true label."""
        return [*self.slices_by_length(), *self.slices_by_label()]

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
) -> FileRun:
    """Run a labelled file through a model, a few thousand rows at a time.

    Arguments as for `read_task_data` and `stream_examples`. Without `max_length` inputs have the
    limit of the fine-tuning. `on_rows` is called after each batch with the number of examples done.

    ValueError if the file cannot be read, no row can be used, or the model answers NaN.
    """
    path, task = Path(path), model.task
    length = model.default_length if max_length is None else max_length
    bad = BadRows(skip=skip_bad_rows)
    judge = task.file_judge(path)
    worst = WorstAnswers(NUM_ERRORS, _LONGEST_TEXT)
    answers: list[JudgedAnswers] = []
    rows: list[int] = []
    hashes: list[int] = []
    labels: tuple[str, ...] = ()
    num_cut = 0
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

        def report(done: float, before: int = len(rows), count: int = len(part.examples)) -> None:
            on_rows(before + int(count * done))

        judged = judge(part, logits_by_row(model, part.data.rows, report))
        answers.append(judged.answers)
        for error in judged.errors:
            worst.add(error)
        rows += [example.row for example in part.examples]
        hashes += part.data.rows.hashes
        num_cut += part.data.rows.num_cut
        labels = part.data.labels
    if not rows:
        raise ValueError(f"{str(path)!r} has no example to use (0 rows). {bad.why_empty()}")
    notes = [*model.notes, *bad.notes()]
    if num_cut:
        notes.append(f"{num_cut:,} rows were truncated at {length} tokens.")
    run = FileRun(
        task=task.name,
        labels=labels,
        num_examples=len(rows),
        rows=np.array(rows, dtype=np.int64),
        errors=worst.sorted(),
        num_errors=worst.num_seen,
        notes=tuple(notes),
        **joined(answers),
    )
    noted = task.file_notes(run, labels, Inputs(len(hashes), len(set(hashes))))
    return replace(run, notes=(*notes, *noted))


@torch.inference_mode()
def logits_by_row(
    model: TaskModel, rows: Rows, on_fraction: Callable[[float], None] = lambda fraction: None
) -> list[NDArray[np.float32]]:
    """Return the logits of each row of `Task.rows`, [C] or [T, C].

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
