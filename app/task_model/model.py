"""The task head of a checkpoint, and the fine-tuned model that it makes."""

from bertcore.base.memory import out_of_memory
from bertcore.model import Model
from bertcore.network.task_reader import TaskReader
from bertcore.tasks import read_task_head
from bertcore.tasks.model import TaskModel

from ..shell import cache
from ..shell.cache import BertKey, TaskKey

PAIR_TASKS = ("pair", "qa")
"""Tasks whose models read two texts."""


def has_head(bert: Model) -> bool:
    """Return whether a checkpoint has a head for a task."""
    return bert.report is not None and bool(bert.report.task_heads)


def model(key: BertKey) -> TaskModel:
    """Return the fine-tuned model of a checkpoint; errors as of `TaskKey.stands_for`."""
    return TaskKey(key).stands_for


def task_head(key: BertKey) -> TaskReader | None:
    """Return the checkpoint's task head, or None if there is none.

    ValueError or RuntimeError if there is one that cannot be read.
    """
    return cache.computed(read_task_head, key)


def readable_task_head(key: BertKey) -> TaskReader | None:
    """Return the checkpoint's task head if there is one that can be read."""
    try:
        return task_head(key)
    except (ValueError, RuntimeError) as error:
        if out_of_memory(error):
            raise
        return None  # the page says why, where the answers are
