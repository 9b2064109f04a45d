"""The tasks by name. A task is added by a file beside this one and a line here."""

from bertcore.model.architecture.families import CLS
from bertcore.training.tasks.choice import Choose
from bertcore.training.tasks.classify import Classify, Pair
from bertcore.training.tasks.multilabel import Multilabel
from bertcore.training.tasks.qa import Extract
from bertcore.training.tasks.regress import Regress
from bertcore.training.tasks.tag import Tag
from bertcore.training.tasks.task import Task

TASKS: dict[str, Task] = {
    task.name: task
    for task in (Classify(), Pair(), Multilabel(), Regress(), Tag(), Extract(), Choose())
}
"""By name; where a checkpoint does not name its task, the first that reads its head is taken."""


def find_task(name: str, *, features: str | None = None, pooling: str = CLS) -> Task:
    """Return the task with a name, on features of FEATURES if named, or a vector of POOLINGS.

    ValueError if there is none, or it has no such form.
    """
    if name not in TASKS:
        raise ValueError(f"task is {name!r}; expected one of {', '.join(TASKS)}.")
    if features is None:
        return TASKS[name].with_pooling(pooling)
    form = TASKS[name].with_features(features)
    if form is None:
        raise ValueError(
            f"feature-based training is for the tasks 'tag' and 'classify', not {name!r}."
        )
    return form.with_pooling(pooling)
