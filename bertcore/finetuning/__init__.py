"""Fine-tuning: labelled files -> task data -> network with a task head -> loop -> report."""

from bertcore.base.public import imported
from bertcore.finetuning.experiment import Experiment, resume_experiment, start_experiment
from bertcore.finetuning.label_curve import read_label_curve
from bertcore.finetuning.recorded import recorded_scores
from bertcore.finetuning.run import Finetuning, RunResult
from bertcore.finetuning.settings import Settings, make_settings

__all__ = imported(globals())
