"""A checkpoint's task head as what-if runs read it."""

from bertcore.base.memory import out_of_memory
from bertcore.network.task_reader import TaskReader
from bertcore.tasks import read_task_head

from ..shell import cache


def task_head(key: cache.BertKey) -> TaskReader | None:
    """Return the checkpoint's task head, or None if there is none.

    ValueError or RuntimeError if there is one that cannot be read.
    """
    return cache.call(read_task_head, key)


def readable_task_head(key: cache.BertKey) -> TaskReader | None:
    """Return the checkpoint's task head if there is one that can be read."""
    try:
        return task_head(key)
    except (ValueError, RuntimeError) as error:
        if out_of_memory(error):
            raise
        return None  # the page says why, where the answers are
