"""The answer of a fine-tuned model to one text or pair."""

from __future__ import annotations

from bertcore.analysis.attribution.task_input import run_task, whole
from bertcore.finetuning.model import TaskModel
from bertcore.finetuning.tasks import TASKS, InspectableTask, TaskAnswer, TaskInput


def answer(model: TaskModel, source: TaskInput, *, num_spans: int = 5) -> TaskAnswer:
    """Return the task's answer to an input.

    Args:
        model: Of a task that answers one text at a time.
        source: Of "qa" the question with its text as the second one.
        num_spans: Of "qa": answers to return, at most.

    Raises:
        ValueError: If the task is another, or of "qa" there is no text to look in.
    """
    task = inspectable_task(model)
    task.check_input(source)
    (logits,) = run_task(model, [whole(source)])
    return task.answer(source, logits, model.labels, num_spans=num_spans)


def inspectable_task(model: TaskModel) -> InspectableTask:
    """Return the task of a model that answers one text or pair at a time.

    Raises:
        ValueError: If it weighs several texts against each other.
    """
    if isinstance(model.task, InspectableTask):
        return model.task
    names = [name for name, task in TASKS.items() if isinstance(task, InspectableTask)]
    raise ValueError(
        f"this checkpoint is for the task {model.task.name!r}, which weighs several texts against "
        f"each other; one text at a time is inspected for {', '.join(names)}. Score it with "
        f"bertscope evaluate --task {model.task.name}."
    )
