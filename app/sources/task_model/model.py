"""The task head of a checkpoint, and the fine-tuned model that it makes."""

from bertcore.model.model import Model
from bertcore.training.tasks.model import TaskModel

from ...shell.cache import BertKey, TaskKey

PAIR_TASKS = ("pair", "qa")
"""Tasks whose models read two texts."""


def has_head(bert: Model) -> bool:
    """Return whether a checkpoint has a head for a task."""
    return bert.report is not None and bool(bert.report.task_heads)


def model(key: BertKey) -> TaskModel:
    """Return the fine-tuned model of a checkpoint; errors as of `TaskKey.stands_for`."""
    return TaskKey(key).stands_for
