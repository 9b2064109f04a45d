"""The answer of a fine-tuned model to one text or pair."""

from __future__ import annotations

from bertcore.analysis.attribution.task_input import run_task, whole
from bertcore.finetuning.model import TaskModel
from bertcore.finetuning.tasks import TaskAnswer, TaskInput


def answer(model: TaskModel, source: TaskInput, *, num_spans: int = 5) -> TaskAnswer:
    """Return the task's answer to an input.

    Args:
        model: Fine-tuned for a task.
        source: Of "qa" the question with its text as the second one; of "choice" with the choices.
        num_spans: Of "qa": answers to return, at most.

    Raises:
        ValueError: If of "qa" there is no text to look in, or of "choice" nothing to choose from.
    """
    model.task.check_input(source)
    (logits,) = run_task(model, [whole(source)])
    return model.task.answer(source, logits, model.labels, num_spans=num_spans)
