"""The tasks by name. A task is added by a file beside this one and a line here."""

from bertcore.tasks.choice import Choose
from bertcore.tasks.classify import Classify, Pair
from bertcore.tasks.multilabel import Multilabel
from bertcore.tasks.qa import Extract
from bertcore.tasks.regress import Regress
from bertcore.tasks.tag import Tag
from bertcore.tasks.task import Task

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
