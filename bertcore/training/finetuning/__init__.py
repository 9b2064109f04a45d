"""Fine-tuning: labelled files -> task data -> network with a task head -> loop -> report."""

from bertcore.base.public import imported
from bertcore.training.finetuning.experiment import Experiment, resume_experiment, start_experiment
from bertcore.training.finetuning.label_curve import read_label_curve
from bertcore.training.finetuning.recorded import recorded_scores
from bertcore.training.finetuning.run import Finetuning
from bertcore.training.finetuning.settings import Settings, make_settings

__all__ = imported(globals())
