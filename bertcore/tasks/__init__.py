"""The tasks that a network is fine-tuned for, one class each, and fine-tuned models.

`Task` defines a task; to add one, add a file here and list its class in `registry`.
"""

from bertcore.base.public import imported
from bertcore.tasks.answers import Goal, TaskAnswer
from bertcore.tasks.choice import ChoiceAnswer, Choose
from bertcore.tasks.classify import Classify, LabelAnswer, Pair
from bertcore.tasks.inputs import ChoiceInput, TaskInput
from bertcore.tasks.model import TaskModel, open_task_model, read_task_head, start_task_model
from bertcore.tasks.multilabel import LabelsAnswer, Multilabel
from bertcore.tasks.qa import Extract, SpanAnswer, SpanAnswers
from bertcore.tasks.read import column_values, read_task_data
from bertcore.tasks.registry import TASKS, find_task
from bertcore.tasks.regress import Regress, ScoreAnswer
from bertcore.tasks.scoring import Scored, score_model
from bertcore.tasks.tag import Tag, TagAnswer
from bertcore.tasks.task import Task
from bertcore.tasks.task_data import TaskData
from bertcore.tokenizer.encoding import Word

__all__ = imported(globals())
