"""Fine-tuning: files of examples -> rows -> network with a task head -> loop -> report."""

from bertcore.configs import Columns, FinetuneConfig
from bertcore.evaluation.metrics import Scores
from bertcore.finetuning.experiment import Experiment, resume_experiment, start_experiment
from bertcore.finetuning.model import TaskModel, open_task_model, start_task_model
from bertcore.finetuning.run import Finetuning
from bertcore.finetuning.run_result import RunResult
from bertcore.finetuning.scoring import Scored, score_model
from bertcore.finetuning.settings import Settings, make_settings
from bertcore.finetuning.tasks import TASKS, Task, TaskData, find_task
from bertcore.finetuning.tasks.read import read_task_data
from bertcore.training.progress import Progress

__all__ = [
    "TASKS",
    "Columns",
    "Experiment",
    "FinetuneConfig",
    "Finetuning",
    "Progress",
    "RunResult",
    "Scored",
    "Scores",
    "Settings",
    "Task",
    "TaskData",
    "TaskModel",
    "find_task",
    "make_settings",
    "open_task_model",
    "read_task_data",
    "resume_experiment",
    "score_model",
    "start_experiment",
    "start_task_model",
]
