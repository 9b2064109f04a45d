"""A view for each task: how Inspect shows its answers, and what a labelled file needs.

To add the view of a task, write a class beside these and name it in `TASK_VIEWS`.
"""

from bertcore.tasks import Task

from .bars import ChoiceView, LabelsView, LabelView, PairView, SpanView
from .scores import ScoreView
from .tags import TagView
from .view import ExplainedTarget, TaskView

__all__ = ["TASK_VIEWS", "ExplainedTarget", "TaskView", "view_of"]

TASK_VIEWS: dict[str, TaskView] = {
    "classify": LabelView(),
    "pair": PairView(),
    "multilabel": LabelsView(),
    "regress": ScoreView(),
    "tag": TagView(),
    "qa": SpanView(),
    "choice": ChoiceView(),
}
"""Views by name of the task."""


def view_of(task: Task) -> TaskView:
    """Return the view of a task."""
    return TASK_VIEWS[task.name]
