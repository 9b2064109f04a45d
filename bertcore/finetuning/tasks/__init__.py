"""The fine-tuning tasks, one class each.

`Task` defines a task; to add one, add a file here and list its class in `TASKS`.
"""

from bertcore.finetuning.tasks.answers import Goal, TaskAnswer
from bertcore.finetuning.tasks.choice import ChoiceAnswer, Choose
from bertcore.finetuning.tasks.classify import Classify, LabelAnswer, Pair
from bertcore.finetuning.tasks.inputs import ChoiceInput, TaskInput
from bertcore.finetuning.tasks.multilabel import LabelsAnswer, Multilabel
from bertcore.finetuning.tasks.qa import Extract, SpanAnswer, SpanAnswers
from bertcore.finetuning.tasks.regress import Regress, ScoreAnswer
from bertcore.finetuning.tasks.tag import FEATURE_TAG, Tag, TagAnswer
from bertcore.finetuning.tasks.task import Task
from bertcore.finetuning.tasks.task_data import TaskData
from bertcore.tokenizer.words import Word

__all__ = [
    "FEATURE_TAG",
    "TASKS",
    "ChoiceAnswer",
    "ChoiceInput",
    "Choose",
    "Classify",
    "Extract",
    "Goal",
    "LabelAnswer",
    "LabelsAnswer",
    "Multilabel",
    "Pair",
    "Regress",
    "ScoreAnswer",
    "SpanAnswer",
    "SpanAnswers",
    "Tag",
    "TagAnswer",
    "Task",
    "TaskAnswer",
    "TaskData",
    "TaskInput",
    "Word",
    "find_task",
]

TASKS: dict[str, Task] = {
    task.name: task
    for task in (Classify(), Pair(), Multilabel(), Regress(), Tag(), Extract(), Choose())
}
"""By name; where a checkpoint does not name its task, the first that reads its head is taken."""


def find_task(name: str, *, feature_based: bool = False) -> Task:
    """Return the task with a name.

    Raises:
        ValueError: If there is none, or it has no feature-based form.
    """
    if name not in TASKS:
        raise ValueError(f"task is {name!r}; expected one of {', '.join(TASKS)}.")
    if not feature_based:
        return TASKS[name]
    form = TASKS[name].feature_form
    if form is None:
        raise ValueError(f"feature-based training is for the task 'tag', not {name!r}.")
    return form
