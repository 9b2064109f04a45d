"""The answer of a fine-tuned model to one text or pair."""

from bertcore.analysis.attribution.task_input import run_task, whole
from bertcore.tasks import TaskAnswer, TaskInput
from bertcore.tasks.model import TaskModel


def answer(model: TaskModel, source: TaskInput, *, num_spans: int = 5) -> TaskAnswer:
    """Return the task's answer to an input.

    Args:
        model: Fine-tuned for a task.
        source: For "qa", the question with its text as the second one; for "choice", with the
            choices.
        num_spans: For "qa": maximum number of answers to return.

    ValueError if "qa" has no text to search, or "choice" has nothing to choose from.
    """
    model.task.check_input(source)
    (logits,) = run_task(model, [whole(source)])
    return model.task.answer(source, logits, model.labels, num_spans=num_spans)
