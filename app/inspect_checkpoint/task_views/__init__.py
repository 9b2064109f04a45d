"""One view a task: how the page Inspect shows its answers, and what a labelled file needs.

To add the view of a task, write a file beside these and name its class in `TASK_VIEWS`.
"""

from app.inspect_checkpoint.task_views.labels import LabelView, PairView
from app.inspect_checkpoint.task_views.scores import ScoreView
from app.inspect_checkpoint.task_views.spans import SpanView
from app.inspect_checkpoint.task_views.tags import TagView
from app.inspect_checkpoint.task_views.view import Chosen, TaskView
from bertcore.finetuning.tasks import Task

__all__ = ["TASK_VIEWS", "Chosen", "TaskView", "view_of"]

TASK_VIEWS: dict[str, TaskView] = {
    "classify": LabelView(),
    "pair": PairView(),
    "regress": ScoreView(),
    "tag": TagView(),
    "qa": SpanView(),
}
"""By name of the task."""


def view_of(task: Task) -> TaskView:
    """Return the view of a task that answers one text at a time."""
    return TASK_VIEWS[task.name]
