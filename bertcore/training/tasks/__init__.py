"""The tasks that a network is fine-tuned for, one class each, and fine-tuned models.

`Task` defines a task; to add one, add a file here and list its class in `registry`.
"""

from bertcore.base.public import imported
from bertcore.model.tokenizer.encoding import Word
from bertcore.training.tasks.answers import Goal, TaskAnswer
from bertcore.training.tasks.choice import ChoiceAnswer, Choose
from bertcore.training.tasks.classify import Classify, LabelAnswer, Pair
from bertcore.training.tasks.inputs import ChoiceInput, TaskInput
from bertcore.training.tasks.model import (
    TaskModel,
    open_task_model,
    read_task_head,
    start_task_model,
)
from bertcore.training.tasks.multilabel import LabelsAnswer, Multilabel
from bertcore.training.tasks.qa import Extract, SpanAnswer, SpanAnswers
from bertcore.training.tasks.read import column_values, read_task_data
from bertcore.training.tasks.registry import TASKS, find_task
from bertcore.training.tasks.regress import Regress, ScoreAnswer
from bertcore.training.tasks.scoring import Scored, score_model
from bertcore.training.tasks.tag import Tag, TagAnswer
from bertcore.training.tasks.task import Task
from bertcore.training.tasks.task_data import TaskData

__all__ = imported(globals())
