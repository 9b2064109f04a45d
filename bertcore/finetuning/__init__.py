"""Fine-tuning: labelled files -> task data -> network with a task head -> loop -> report."""

from bertcore.finetuning.experiment import Experiment, resume_experiment, start_experiment
from bertcore.finetuning.run import Finetuning, RunResult
from bertcore.finetuning.settings import Settings, make_settings

__all__ = [
    "Experiment",
    "Finetuning",
    "RunResult",
    "Settings",
    "make_settings",
    "resume_experiment",
    "start_experiment",
]
